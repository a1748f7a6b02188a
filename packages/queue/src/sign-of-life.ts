import type { Redis } from "ioredis";
import { RUN_TTL_S, runKey } from "./redis-keys.ts";
import type { QueueKey } from "./signing-key.ts";

/** The command that waits for a run writes it every few seconds: when it was written, and the signature of that. */
export function signOfLife(key: QueueKey, run: string, nowMs: number): string {
  const at = String(nowMs);
  return `${at} ${key.sign("sign-of-life", run, at).toString("hex")}`;
}

/**
 * Whether the command of a run still waits. Its sign of life is signed and dated: without the key, nobody can let
 * workers repeat a run whose command has ended. `unknown` if the sign is of another key, or too old or too new by
 * the clock of this machine.
 */
export async function runState(
  redis: Redis,
  key: QueueKey,
  run: string,
  nowMs: number,
): Promise<"alive" | "ended" | "unknown"> {
  const text = await redis.get(runKey(run));
  if (text === null) return "ended";
  const [at = "", signature = ""] = text.split(" ");
  if (!key.isSigned("sign-of-life", run, at, Buffer.from(signature, "hex"))) return "unknown";
  return Math.abs(nowMs - Number(at)) <= RUN_TTL_S * 1_000 ? "alive" : "unknown";
}
