import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { type BuildOptions, build, type Plugin } from "esbuild";

const SOURCES = join(import.meta.dirname, "../processes");
const ROOT = join(import.meta.dirname, "../..");

/** The bundle lies deeper than the sources and the package, so it cannot look for the files beside them. */
const packageRoot: Plugin = {
  name: "package-root",
  setup(bundle) {
    bundle.onLoad({ filter: /\/src\/app\/package-root\.ts$/ }, () => ({
      contents: `export const PACKAGE_ROOT = ${JSON.stringify(`${ROOT}/`)};
        export const MIGRATIONS_FOLDER = ${JSON.stringify(join(ROOT, "migrations"))};`,
      loader: "js",
    }));
  },
};

/**
 * Bundles the measured processes with the options of build.mjs. A TypeScript loader such as tsx would wrap
 * their functions and slow them down.
 */
export async function bundleProcesses(into: string): Promise<void> {
  const common: BuildOptions = {
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    minifySyntax: true,
    minifyWhitespace: true,
    external: ["better-sqlite3", "@duckdb/node-api"],
    plugins: [packageRoot],
    banner: {
      js: [
        'import { createRequire as __createRequire } from "node:module";',
        "const require = __createRequire(import.meta.url);",
      ].join(" "),
    },
    logLevel: "warning",
  };
  await build({
    ...common,
    entryPoints: readdirSync(SOURCES).map((file) => join(SOURCES, file)),
    outdir: into,
    outExtension: { ".js": ".mjs" },
    splitting: true,
  });
  // The thread of large copies, under the name that it has in the package.
  await build({
    ...common,
    stdin: {
      contents: 'import { copyJob } from "./src/worlds/copies/copy-worker.ts"; await copyJob();',
      resolveDir: ROOT,
    },
    outfile: join(into, "copy-worker.js"),
  });
  if (!existsSync(join(into, "app-server.mjs"))) throw new Error(`${into} has no app-server.mjs`);
}
