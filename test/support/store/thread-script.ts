import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";

/** Bundles code into a script for threads, which cannot load the sources. */
export async function bundleThreadScript(directory: string, code: string): Promise<URL> {
  const outfile = join(directory, "thread.mjs");
  const sqlite = createRequire(import.meta.url).resolve("better-sqlite3");
  await build({
    stdin: { contents: code, resolveDir: process.cwd(), loader: "ts" },
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    plugins: [
      {
        name: "sqlite",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^better-sqlite3$/ }, () => ({ path: sqlite, external: true })),
      },
    ],
  });
  return pathToFileURL(outfile);
}
