// Bundles the command into dist/. Runs at `npm ci`; where the bundler is not installed (`npm ci --omit=dev`) it leaves things be.
import { existsSync, renameSync, rmSync } from "node:fs";

let esbuild;
try {
  esbuild = await import("esbuild");
} catch {
  if (!existsSync("dist/standin.js")) process.stderr.write("standin: esbuild is not installed, so dist/ was not built\n");
  process.exit(0);
}

// Built aside and put in place at once: a command that runs meanwhile finds the old files or the new ones.
const aside = `dist.${process.pid}`;
await esbuild.build({
  entryPoints: { standin: "src/cli/main.ts" },
  outdir: aside,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  // A smaller file is read and compiled sooner; names stay, for stacks that one can read.
  minifySyntax: true,
  minifyWhitespace: true,
  external: ["better-sqlite3"],
  // Some dependencies are CommonJS and ask for node's own modules.
  banner: { js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);' },
  logLevel: "warning",
});
rmSync("dist", { recursive: true, force: true });
renameSync(aside, "dist");
