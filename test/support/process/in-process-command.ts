import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { environment } from "./process.ts";

const BUNDLE = pathToFileURL(join(import.meta.dirname, "../../../dist/standin.js")).href;

type CommandResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

let runs = 0;
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs one command of the bundle to its end inside this process: what a process of its own would do, without its start.
 * Commands run one after another, because arguments, environment, exit code and output belong to the process.
 * For signals, standard input, and commands that run while another one does, use `runStandinProcess`.
 */
export function runStandin(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<CommandResult> {
  const run = previous.then(() => runAlone(args, env));
  previous = run.catch(() => undefined);
  return run;
}

async function runAlone(args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
  process.setMaxListeners(0);
  process.stdout.setMaxListeners(0);
  const outside = { argv: process.argv, env: process.env, exitCode: process.exitCode };
  const output = { stdout: capture("stdout"), stderr: capture("stderr") };
  try {
    process.argv = [process.execPath, "standin", ...args];
    process.env = { ...environment(), ...env };
    process.exitCode = undefined;
    runs += 1;
    // A query makes the entry module run again; the modules that it imports are loaded once.
    await import(/* @vite-ignore */ `${BUNDLE}?run=${runs}`);
    const code = Number(process.exitCode ?? 0);
    return { code, stdout: output.stdout.text(), stderr: output.stderr.text() };
  } finally {
    for (const each of Object.values(output)) each.release();
    Object.assign(process, outside);
  }
}

function capture(name: "stdout" | "stderr") {
  const stream = process[name];
  const { write } = stream;
  let text = "";
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const done = rest.find((each) => typeof each === "function") as (() => void) | undefined;
    if (done !== undefined) queueMicrotask(done);
    return true;
  };
  return {
    text: () => text,
    release: () => {
      stream.write = write;
    },
  };
}
