import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const CACHE = join(import.meta.dirname, "../../../node_modules/.cache");
const DIRECTORY = join(CACHE, "chromium");

/** The browser that the tests of the console start. It comes from npm alone. */
export const BROWSER_PROGRAM = join(DIRECTORY, "chromium");

/**
 * Unpacks the browser before the tests start. The package would unpack it at the first use, and whoever comes
 * second would start a program that is not complete yet.
 */
export async function setup(): Promise<void> {
  if (existsSync(BROWSER_PROGRAM)) return;
  mkdirSync(CACHE, { recursive: true });
  const unfinished = mkdtempSync(`${DIRECTORY}-`);
  const before = process.env["TMPDIR"];
  try {
    // The package unpacks into the system's temporary directory.
    process.env["TMPDIR"] = unfinished;
    // Its CommonJS entry does not load under Node 20.
    const entry = require.resolve("@sparticuz/chromium").replace(/\/cjs\/index\.cjs$/, "/esm/index.js");
    const { default: binary } = await import(pathToFileURL(entry).href);
    await binary.executablePath();
    renameSync(unfinished, DIRECTORY);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another run of the tests may have been faster.
    if (!existsSync(BROWSER_PROGRAM)) throw error;
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
  }
}
