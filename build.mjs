// Bundles the command and the package's export into dist/. Runs at `npm ci`; where the bundler is not installed (`npm ci --omit=dev`) it leaves things be.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

let esbuild;
let typescript;
try {
  esbuild = await import("esbuild");
  typescript = (await import("typescript")).default;
} catch {
  if (!existsSync("dist/standin.js"))
    process.stderr.write("standin: its compilers are not installed, so dist/ was not built\n");
  process.exit(0);
}

// Built aside and put in place at once: a command that runs meanwhile finds the old files or the new ones.
const aside = `dist.${process.pid}`;
await esbuild.build({
  entryPoints: {
    standin: "src/cli/main.ts",
    "create-standin": "src/app/create-standin.ts",
    "run-worker": "src/cli/run/run-worker.ts",
    "whatif-worker": "src/cli/whatif/whatif-worker.ts",
    "import-worker": "src/cli/whatif/import-worker.ts",
  },
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
  external: ["better-sqlite3", "tinypool"],
  // Some dependencies are CommonJS and ask for node's own modules.
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});
// The types of the package's export say all by themselves: they import nothing.
const source = readFileSync("src/app/create-standin.ts", "utf8");
const { outputText, diagnostics } = typescript.transpileDeclaration(source, {
  compilerOptions: { strict: true, isolatedDeclarations: true },
});
if (diagnostics.length > 0) throw new Error(diagnostics.map(({ messageText }) => messageText).join("\n"));
writeFileSync(`${aside}/create-standin.d.ts`, outputText);
rmSync("dist", { recursive: true, force: true });
renameSync(aside, "dist");
