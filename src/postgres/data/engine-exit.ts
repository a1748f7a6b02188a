import { setTimeout as sleep } from "node:timers/promises";
import type { RunningEngine } from "../engine/engine.ts";

/** A killed Postgres closes its sessions just before its exit is noticed. */
const EXIT_WAIT_MS = 1_000;

/** Postgres was killed. */
export class EngineExited extends Error {
  override readonly name = "EngineExited";
}

/** Whether an engine whose session was lost has exited. */
export function hasExited(engine: RunningEngine): Promise<boolean> {
  return Promise.race([engine.exited.then(() => true), sleep(EXIT_WAIT_MS, false, { ref: false })]);
}
