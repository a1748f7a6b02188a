import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addAbortSignal } from "node:stream";
import { pipeline } from "node:stream/promises";
import { TextTooLarge } from "../../app/read-text.ts";
import { messageOf } from "../../kernel/message-of.ts";
import { CliError } from "./cli-error.ts";

/** The path of an argument that stands for standard input. */
export const STANDARD_INPUT = "-";

/** Throws if standard input is given more than once: it can be read only once. */
export function checkStandardInput(paths: readonly string[]): void {
  if (paths.filter((path) => path === STANDARD_INPUT).length > 1)
    throw new CliError(`"${STANDARD_INPUT}" is given twice; standard input can be read only once`, true);
}

/** Throws a `CliError` if there are more bytes than `maxBytes`, or none can be read. */
export async function readStandardInput(signal: AbortSignal, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of addAbortSignal(signal, process.stdin)) {
      bytes += (chunk as Buffer).length;
      if (bytes > maxBytes) throw new TextTooLarge(maxBytes);
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks).toString("utf8");
  } catch (error) {
    throw inputError(error, signal);
  }
}

/**
 * Runs `use` with the path of a temporary copy of standard input instead of `-`, because a trace is read more
 * than once.
 */
export async function withStandardInput<T>(
  paths: readonly string[],
  signal: AbortSignal,
  use: (paths: readonly string[]) => Promise<T>,
): Promise<T> {
  checkStandardInput(paths);
  if (!paths.includes(STANDARD_INPUT)) return use(paths);
  const directory = mkdtempSync(join(tmpdir(), "standin-stdin-"));
  try {
    const copy = join(directory, "stdin");
    await pipeline(process.stdin, createWriteStream(copy), { signal }).catch((error: unknown) => {
      throw inputError(error, signal);
    });
    return await use(paths.map((path) => (path === STANDARD_INPUT ? copy : path)));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function inputError(error: unknown, signal: AbortSignal): CliError {
  if (signal.aborted) return new CliError("interrupted");
  if (error instanceof TextTooLarge) return new CliError(`standard input ${error.message}`);
  return new CliError(`cannot read standard input: ${messageOf(error)}`);
}
