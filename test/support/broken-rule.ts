import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

/** One place in the sources, and what stands there instead. */
export type BrokenRule = { readonly file: string; readonly right: string; readonly wrong: string };

/** The command with one rule broken, or none, bundled to `directory`; gives its path. Throws where the text is not there exactly once. */
export async function bundleWith(rule: BrokenRule | undefined, directory: string): Promise<string> {
  const broken = rule === undefined ? undefined : { path: resolve(rule.file), contents: breakRule(rule) };
  for (const name of ["node_modules", "migrations", "package.json"])
    symlinkSync(resolve(name), join(directory, name));
  mkdirSync(join(directory, "dist"));
  const outfile = join(directory, "dist", "standin.js");
  await build({
    entryPoints: ["src/cli/main.ts"],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["better-sqlite3", "tinypool"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "error",
    plugins: [
      {
        name: "broken-rule",
        setup: ({ onLoad }) =>
          onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) =>
            path === broken?.path ? { contents: broken.contents, loader: "ts" } : undefined,
          ),
      },
    ],
  });
  return outfile;
}

export function breakRule({ file, right, wrong }: BrokenRule): string {
  const parts = readFileSync(file, "utf8").split(right);
  if (parts.length !== 2)
    throw new Error(`${file} has ${JSON.stringify(right)} ${parts.length - 1} times; it must be there once`);
  return parts.join(wrong);
}
