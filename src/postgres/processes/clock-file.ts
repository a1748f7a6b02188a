import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { EngineClock } from "../engine/engine.ts";

/** A clock that runs may differ by this much before its file is written again. */
const TOLERANCE_MS = 2;

/**
 * The clock of the processes of one engine. The library reads it from a file at each call, so a change applies to all
 * of them at once.
 */
export class ClockFile implements EngineClock {
  readonly #file: string;
  readonly #library: string;
  #isRemoved = false;
  #shown: { readonly standsAt: number } | { readonly aheadMs: number } | undefined;

  /** `file`: in a directory that only this process can write to. */
  constructor(library: string, file: string, at: number) {
    this.#library = library;
    this.#file = file;
    this.runFrom(at);
  }

  /** Variables of the server process. Waits and timers are not changed, because their clock is the monotonic one. */
  get environment(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      FAKETIME_DISABLE_SHM: "1",
      NO_FAKE_STAT: "1",
    };
  }

  standAt(at: number): void {
    if (this.#shown !== undefined && "standsAt" in this.#shown && this.#shown.standsAt === at) return;
    // Half a microsecond more, because the library cuts off what the number with binary digits lacks.
    this.#write(`${new Date(at).toISOString().replace("T", " ").replace("Z", "")}0005`);
    this.#shown = { standsAt: at };
  }

  runFrom(at: number): void {
    const aheadMs = at - Date.now();
    if (this.#shown !== undefined && "aheadMs" in this.#shown) {
      if (Math.abs(this.#shown.aheadMs - aheadMs) <= TOLERANCE_MS) return;
    }
    this.#write(`${aheadMs < 0 ? "-" : "+"}${(Math.abs(aheadMs) / 1_000).toFixed(3)}`);
    this.#shown = { aheadMs };
  }

  /** After the end of the processes. */
  remove(): void {
    this.#isRemoved = true;
    rmSync(this.#file, { force: true });
  }

  /** A process reads either the previous or the new content. */
  #write(content: string): void {
    if (this.#isRemoved) return;
    const unfinished = `${this.#file}.unfinished`;
    writeFileSync(unfinished, `${content}\n`);
    // The user of Postgres reads it, whatever the mask of this process is.
    chmodSync(unfinished, 0o644);
    renameSync(unfinished, this.#file);
  }
}
