// @ts-nocheck
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CANDIDATES = ["../", "../../"];

/** The directory of package.json and migrations/: two levels above these sources, one above the bundle. */
export const PACKAGE_ROOT: string = findPackageRoot();

/** The SQL migrations of world files, as drizzle-kit writes them. */
export const MIGRATIONS_FOLDER = join(PACKAGE_ROOT, "migrations");

function findPackageRoot(): string {
  for (const candidate of CANDIDATES) {
    const root = new URL(candidate, import.meta.url);
    if (existsSync(new URL("package.json", root)) && existsSync(new URL("migrations", root)))
      return fileURLToPath(root);
  }
  throw new Error(`found no package.json and migrations/ above ${import.meta.url}; reinstall the package`);
}
