import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { moveIntoPlace, temporaryPath } from "../store/file/atomic-file.ts";

/** The content of a JSON file beside a world. A damaged file is as none. */
export function readRecordFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function writeRecordFile(path: string, record: unknown): void {
  const temporary = temporaryPath(path);
  try {
    writeFileSync(temporary, `${JSON.stringify(record)}\n`, { mode: 0o600 });
    moveIntoPlace(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
}
