import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Bytes of all files of a directory and below. */
export function sizeOf(directory: string): number {
  let bytes = 0;
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    // A world may expire meanwhile.
    bytes += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return bytes;
}
