import { openSync } from "node:fs";
import { constants } from "node:os";
import type { Draw } from "./disk-image.ts";

const CALLS = ["w", "s", "s", "st", "o", "t", "r", "u", "ws", "wst", "wsotru"] as const;
const { EIO, ENOSPC, EMFILE } = constants.errno;
const ERRORS = [EIO, ENOSPC, EMFILE];
/** Tells the shim what to do. */
export function control(command: string): void {
  try {
    openSync(`/standin-storage/${command}`, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

/** Records what this process does to the files in a directory. */
export function startRecording(log: string, directory: string): void {
  control(`record/${escaped(log)}/${escaped(`${directory}/`)}`);
}

/** Makes calls of the storage fail that are drawn, some of them once and some until `heal`. */
export function armFailure(draw: Draw): void {
  const calls = CALLS[draw(CALLS.length)];
  const error = ERRORS[draw(ERRORS.length)];
  const count = draw(3) === 0 ? 1_000 : 1 + draw(4);
  control(`fail/${calls}/${error}/${draw(12)}/${count}/${draw(2)}`);
}

function escaped(path: string): string {
  return path.replaceAll("/", "|");
}
