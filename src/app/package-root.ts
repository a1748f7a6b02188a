import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const CANDIDATES = ["../", "../../"];

/** Where package.json and migrations/ are: two levels above these sources, one above the bundle. */
export const PACKAGE_ROOT: string = findPackageRoot();

function findPackageRoot(): string {
  for (const candidate of CANDIDATES) {
    const root = new URL(candidate, import.meta.url);
    if (existsSync(new URL("package.json", root)) && existsSync(new URL("migrations", root)))
      return fileURLToPath(root);
  }
  throw new Error(`no package.json with migrations/ beside it above ${import.meta.url}`);
}
