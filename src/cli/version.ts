import { readFileSync } from "node:fs";

/** Of package.json, which lies two levels above the sources and one above the bundle. */
export const VERSION: string = readVersion();

function readVersion(): string {
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).version;
    } catch {
      // The other one, then.
    }
  }
  return "0.0.0";
}
