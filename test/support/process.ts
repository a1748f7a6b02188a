import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const COMMAND = join(import.meta.dirname, "../../dist/standin.js");

export type Ready = { event: "ready"; pid: number; api_url: string; control_url: string; world: string; api_key?: string };

/** `standin serve` in a process of its own, on a free port. */
export type Served = {
  readonly ready: Ready;
  readonly process: ChildProcess;
  readonly stderr: () => string;
  /** Ends it, and waits until it has ended; gives its exit code, `null` where a signal ended it. */
  kill(signal: NodeJS.Signals): Promise<number | null>;
};

export function temporaryDirectory(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "standin-test-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export async function serve(data: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Served> {
  const child = spawn(process.execPath, [COMMAND, "serve", "--data", data, "--port", "0", "--json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout })) {
    const ready = JSON.parse(line) as Ready;
    return {
      ready,
      process: child,
      stderr: () => stderr,
      async kill(signal) {
        child.kill(signal);
        const [code] = (await ended) as [number | null];
        return code;
      },
    };
  }
  await ended;
  throw new Error(`standin serve ended before it was ready: ${stderr}`);
}

/** Runs one command to its end. */
export async function standin(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, ...env } });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
