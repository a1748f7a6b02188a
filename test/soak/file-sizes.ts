import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

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

/** Bytes of the default world's file without its free pages, which later rows reuse. */
export function usedBytes(directory: string): number {
  const file = new Database(join(directory, "worlds/default.sqlite"), { readonly: true });
  try {
    const [pages, free, pageBytes] = ["page_count", "freelist_count", "page_size"].map((name) =>
      Number(file.pragma(name, { simple: true })),
    ) as [number, number, number];
    return (pages - free) * pageBytes;
  } finally {
    file.close();
  }
}
