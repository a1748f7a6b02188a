import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { buildSync } from "esbuild";

const require = createRequire(import.meta.url);
const CACHE = join(import.meta.dirname, "../../../node_modules/.cache/standin-clis");

/**
 * `neonctl-newest` is the newest release under the old name, which contains a release of `neon`.
 * `neonctl-oldest` is the oldest in the registry that these tests can follow: 1.5 installs a client with other
 * parameters than it was written for, and 1.18 and 1.20 print JSON without names.
 */
export type Cli = "neonctl" | "neon" | "neonctl-newest" | "neonctl-oldest" | "neonctl-1" | "neonctl-2";

const PACKAGE_FILES: Readonly<Record<Cli, string>> = {
  neonctl: require.resolve("neonctl/package.json"),
  neon: require.resolve("neon/package.json"),
  "neonctl-newest": require.resolve("neonctl-newest/package.json"),
  "neonctl-oldest": require.resolve("neonctl-oldest/package.json"),
  "neonctl-1": require.resolve("neonctl-1/package.json"),
  "neonctl-2": require.resolve("neonctl-2/package.json"),
};

export function versionOf(cli: Cli): string {
  return JSON.parse(readFileSync(PACKAGE_FILES[cli], "utf8")).version;
}

/** The program that the package installs. */
export function installedProgram(cli: Cli): string {
  const { bin } = JSON.parse(readFileSync(PACKAGE_FILES[cli], "utf8"));
  return join(dirname(PACKAGE_FILES[cli]), bin[cli] ?? bin.neonctl);
}

/**
 * Bundles a program with a thousand modules into a few files. It starts in 0.2 s of processor time instead of 0.6 s,
 * and tests start it hundreds of times.
 */
export function bundledProgram(cli: Cli): string {
  const program = installedProgram(cli);
  const version = versionOf(cli);
  // The bundle contains the path of the program, and a clone may be moved or copied.
  const place = createHash("sha256").update(program).digest("hex").slice(0, 8);
  const folder = join(CACHE, `${cli}-${version}-${place}`);
  if (!existsSync(folder)) bundle(program, folder);
  return join(folder, "cli.mjs");
}

function bundle(program: string, folder: string): void {
  const aside = `${folder}.${process.pid}`;
  buildSync({
    entryPoints: { cli: program },
    outdir: aside,
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node20",
    outExtension: { ".js": ".mjs" },
    // Builds of native modules, which no tested command needs.
    external: ["@mapbox/node-pre-gyp"],
    mainFields: ["module", "main"],
    // The program reads its package.json relative to itself.
    define: { "import.meta.url": "__moduleUrl" },
    banner: {
      js: `import { createRequire as __createRequire } from "node:module"; const __moduleUrl = ${JSON.stringify(pathToFileURL(program).href)}; const require = __createRequire(__moduleUrl);`,
    },
    logLevel: "error",
  });
  mkdirSync(CACHE, { recursive: true });
  try {
    renameSync(aside, folder);
  } catch {
    // Another worker was faster.
    rmSync(aside, { recursive: true });
  }
}
