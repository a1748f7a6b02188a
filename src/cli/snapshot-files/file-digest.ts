import { createHash } from "node:crypto";
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { CliError } from "../terminal/cli-error.ts";

/** The file next to a pushed file that states its checksum, as `sha256sum` writes and checks it. */
export function digestFile(file: string): string {
  return `${file}.sha256`;
}

export function digestLine(file: string, sha256: string): string {
  return `${sha256}  ${basename(file)}\n`;
}

/** The checksum that was stored next to a file; `undefined` if there is none. */
export function storedDigest(file: string): string | undefined {
  const path = digestFile(file);
  if (!existsSync(path)) return undefined;
  const [sha256] = /^[0-9a-f]{64}(?=\s)/.exec(readFileSync(path, "utf8")) ?? [];
  if (sha256 === undefined) throw new CliError(`${path} does not begin with a SHA-256 checksum`);
  return sha256;
}

/** The SHA-256 of a file. Rejects with "interrupted" once the signal is aborted. */
export async function digestOf(
  path: string,
  signal: AbortSignal,
  progress: (done: number, of: number) => Promise<void>,
): Promise<string> {
  const { size } = statSync(path);
  const hash = createHash("sha256");
  let done = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    if (signal.aborted) throw new CliError("interrupted; nothing was changed");
    hash.update(chunk);
    done += chunk.length;
    await progress(done, size);
  }
  return hash.digest("hex");
}
