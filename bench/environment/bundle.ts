import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const SOURCES = join(import.meta.dirname, "../processes");

/**
 * Bundles the processes that are measured the way the command is bundled (build.mjs): what runs them from their sources would
 * wrap every function of theirs, and be measured too.
 */
export async function bundleProcesses(into: string): Promise<void> {
  await build({
    entryPoints: readdirSync(SOURCES).map((file) => join(SOURCES, file)),
    outdir: into,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    external: ["better-sqlite3"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  });
  if (!existsSync(join(into, "double-server.mjs"))) throw new Error(`${into} has no double-server.mjs`);
}
