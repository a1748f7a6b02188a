import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { deserialize } from "node:v8";
import { inflate } from "node:zlib";
import type { RecordedTraffic } from "../../recordings/read-recording.ts";
import type { ScenarioJob } from "../run/run-job.ts";
import { digestOf, type PackedRun } from "./packed-job.ts";

/** The files that a worker keeps for its next jobs. */
const MAX_RETAINED_BYTES = 512 * 1024 ** 2;

/** A file of the job is not in Redis any more. */
export class MissingFile extends Error {
  override readonly name = "MissingFile";
}

type RetainedFile = { readonly bytes: number; readonly value: unknown };

/** Unpacks jobs, and keeps the files that it has read last. */
export class JobUnpacker {
  readonly #fetch: (digest: string) => Promise<Buffer | null>;
  /** By kind and digest, the one used last at the end. */
  readonly #retained = new Map<string, Promise<RetainedFile>>();
  #directory: string | undefined;

  /** `fetch` reads a compressed file by the digest of its content. */
  constructor(fetch: (digest: string) => Promise<Buffer | null>) {
    this.#fetch = fetch;
  }

  /** Throws a `MissingFile`. */
  async unpack(packed: PackedRun): Promise<ScenarioJob> {
    const { file, variant, seed, bail } = packed;
    const text = await this.#file("text", packed.text, (content) => content.toString("utf8"));
    const recordings = new Map<string, RecordedTraffic>();
    for (const [source, digest] of packed.recordings)
      recordings.set(source, await this.#file("recording", digest, deserialize));
    const worldCopy =
      packed.world === undefined
        ? undefined
        : await this.#file("world", packed.world.file, (content, digest) => this.#write(content, digest));
    return { file, text, variant, recordings, seed, bail, worldCopy };
  }

  /** Removes the files on disk. */
  close(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  async #file<T>(kind: string, digest: string, read: (content: Buffer, digest: string) => T): Promise<T> {
    const key = `${kind} ${digest}`;
    const found =
      this.#retained.get(key) ??
      this.#read(digest).then((content) => ({ bytes: content.length, value: read(content, digest) }));
    this.#retained.delete(key);
    this.#retained.set(key, found);
    try {
      const { value } = await found;
      await this.#forgetOldest();
      return value as T;
    } catch (error) {
      this.#retained.delete(key);
      throw error;
    }
  }

  async #read(digest: string): Promise<Buffer> {
    const compressed = await this.#fetch(digest);
    if (compressed === null) throw new MissingFile(digest);
    const content = await promisify(inflate)(compressed);
    if (digestOf(content) !== digest) throw new MissingFile(digest);
    return content;
  }

  /** Files of worlds stay on disk until the worker ends: a run may be about to open one. */
  #write(content: Buffer, digest: string): string {
    this.#directory ??= mkdtempSync(join(tmpdir(), "standin-worker-"));
    const path = join(this.#directory, `${digest}.sqlite`);
    writeFileSync(path, content);
    return path;
  }

  async #forgetOldest(): Promise<void> {
    const retained = await Promise.all(
      [...this.#retained].map(async ([key, file]) => ({
        key,
        bytes: (await file.catch(() => undefined))?.bytes ?? 0,
      })),
    );
    let bytes = retained.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of retained) {
      if (bytes <= MAX_RETAINED_BYTES) return;
      this.#retained.delete(file.key);
      bytes -= file.bytes;
    }
  }
}
