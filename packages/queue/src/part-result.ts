import { spawn } from "node:child_process";
import type { PartResult, QueueHost } from "@standin/standin/ports/queue";
import type { PackedPart } from "./packed-job.ts";

/** Functions of the core that answers for parts need. */
export type PartHost = Pick<QueueHost, "checkPart" | "commandFile" | "limits">;

/** Stored bytes of the process's error messages. */
const MAX_ERROR_BYTES = 1024 ** 2;

/** Loaded before the command of a part. Ends the process if the process of the worker was killed. */
export const END_WITH_PARENT = `data:text/javascript,${encodeURIComponent(
  "process.channel && (process.once('disconnect', () => process.exit(1)), process.channel.unref())",
)}`;

/**
 * Answers for a part in a process of its own, which reads trace files below the directory `traces` only. Environment
 * variables of the worker do not apply: the arguments spell out everything. Rejects if the process was killed, so
 * that another worker tries it.
 */
export async function answerPart(
  host: PartHost,
  part: PackedPart,
  traces: string | undefined,
): Promise<PartResult> {
  const checked = host.checkPart(part, traces);
  if ("problem" in checked) return { verdict: "could_not_run", reason: checked.problem };
  const { args, directory } = checked;
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("STANDIN_")),
  );
  // Ctrl-C at the terminal ends the worker only, which completes what it has begun.
  const child = spawn(process.execPath, ["--import", END_WITH_PARENT, host.commandFile, ...args], {
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
    if (bytes > host.limits.part) child.kill("SIGKILL");
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
  if (bytes > host.limits.part)
    return {
      verdict: "could_not_run",
      reason: `the part has over ${host.limits.part / 1024 ** 2} MiB; divide the question into more --parts`,
    };
  if (code === 0) return { verdict: "answered", text: Buffer.concat(texts).toString("utf8") };
  if (code === null) throw new Error(`${part.title}: its process was ended`);
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
