import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { MAX } from "../../input-limits/limits.ts";
import type { PackedPart } from "./packed-job.ts";
import { type CheckedPart, checkedPart, RejectedPart } from "./part-arguments.ts";

/** What a worker answers for a part of `whatif compare` or `backtest`. */
export type PartResult =
  | { readonly verdict: "answered"; readonly text: string }
  | { readonly verdict: "could_not_run"; readonly reason: string };

/** What is kept of the messages of the process. */
const MAX_ERROR_BYTES = 1024 ** 2;

/** Loaded before the command of a part: ends the process if that of the worker was killed. */
export const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.channel && (process.once('disconnect', () => process.exit(1)), process.channel.unref())",
)}`;

/**
 * Answers for a part in a process of its own, which reads trace files below the directory `traces` only. Environment
 * variables of the worker do not apply: the arguments spell out everything. Rejects if the process was killed, so
 * that another worker tries it.
 */
export async function answerPart(part: PackedPart, traces: string | undefined): Promise<PartResult> {
  let checked: CheckedPart;
  try {
    checked = checkedPart(part, traces);
  } catch (error) {
    if (!(error instanceof RejectedPart)) throw error;
    return { verdict: "could_not_run", reason: error.message };
  }
  return answerChecked(checked, part.title);
}

async function answerChecked({ args, directory }: CheckedPart, title: string): Promise<PartResult> {
  const command = fileURLToPath(new URL("./standin.js", import.meta.url));
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("STANDIN_")),
  );
  // Ctrl-C at the terminal ends the worker only, which completes what it has begun.
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, command, ...args], {
    cwd: directory,
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const texts: Buffer[] = [];
  const errors: Buffer[] = [];
  let bytes = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX.queuePart) child.kill("SIGKILL");
    else texts.push(chunk);
  });
  let errorBytes = 0;
  child.stderr?.on("data", (chunk: Buffer) => {
    errorBytes += chunk.length;
    if (errorBytes <= MAX_ERROR_BYTES) errors.push(chunk);
  });
  const code = await new Promise<number | null>((resolveCode, reject) => {
    child.once("error", reject);
    child.once("close", resolveCode);
  });
  if (bytes > MAX.queuePart)
    return {
      verdict: "could_not_run",
      reason: `the part has over ${MAX.queuePart / 1024 ** 2} MiB; divide the question into more --parts`,
    };
  if (code === 0) return { verdict: "answered", text: Buffer.concat(texts).toString("utf8") };
  if (code === null) throw new Error(`${title}: its process was ended`);
  return { verdict: "could_not_run", reason: reasonIn(Buffer.concat(errors).toString("utf8")) };
}

/** The last error of the command, without its prefix. */
function reasonIn(errors: string): string {
  const last = errors
    .trim()
    .split(/^standin: /m)
    .at(-1);
  return last === undefined || last === "" ? "it failed without a message" : last.trim();
}
