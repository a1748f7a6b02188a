import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, existsSync, mkdirSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { volumesOf } from "../../platform/model/branch-data.ts";
import { engineUser } from "../../postgres/machine/os-user.ts";
import { MissingVolume } from "../../postgres/volumes/volume-origins.ts";
import { BASE, Volumes } from "../../postgres/volumes/volumes.ts";
import { CliError } from "../terminal/cli-error.ts";
import { throwIfInterrupted } from "../terminal/interrupt.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { checkForeignVolume, replaceSettings } from "./foreign-volumes.ts";
import { readBranchData } from "./verify-data.ts";
import { toFileError } from "./world-database.ts";

const run = promisify(execFile);
const COPY_OPTIONS = {
  recursive: true,
  verbatimSymlinks: true,
  preserveTimestamps: true,
  mode: constants.COPYFILE_FICLONE,
};

/** The directory next to an exported file with the data of its branches. */
export function exportedDataDirectory(file: string): string {
  return `${file}.volumes`;
}

/** Whether the branches or snapshots of the world in a file have data. */
export function hasBranchData(file: string): boolean {
  return volumeIds(file).size > 0;
}

/** Copies the data of a world that no server uses to a directory next to its export. Returns the number of volumes. */
export async function exportData(
  file: string,
  volumesDirectory: string,
  target: string,
  signal: AbortSignal,
): Promise<number> {
  const volumes = new Volumes(volumesDirectory, dirname(volumesDirectory));
  if (volumes.mayHaveProcesses())
    throw new CliError(
      `Postgres processes of a killed server may still use ${volumesDirectory}; start the server on it and stop it`,
    );
  const to = exportedDataDirectory(target);
  if (existsSync(to)) throw new CliError(`${to} already exists; choose another --out`);
  try {
    return await copyVolumes(volumeIds(file), volumes, to, signal);
  } catch (error) {
    rmSync(to, { recursive: true, force: true });
    throw error;
  }
}

/**
 * Copies the data beside an exported file into a data directory, which no other process uses. Returns how to undo it.
 * `used`: the volumes of the worlds there, if that is known. Postgres trusts its files, so the sender must be trusted, too: settings that
 * run programs are replaced and links are rejected, but functions in C, superusers and damaged pages are not found.
 */
export async function importData(
  file: string,
  data: string,
  volumesDirectory: string,
  used: ReadonlySet<string> | undefined,
): Promise<() => void> {
  const from = new Volumes(exportedDataDirectory(file), dirname(file));
  const to = new Volumes(volumesDirectory, data);
  const ids = volumeIds(file);
  if (used !== undefined) {
    // An import that was killed has left volumes that no branch uses.
    const needed = new Set([...used].flatMap((id) => to.directoriesOf(id)));
    for (const id of to.stored()) if (ids.has(id) && !needed.has(id)) await to.remove(id);
  }
  const [existing] = [...ids].filter((id) => existsSync(join(to.root, id)));
  if (existing !== undefined)
    throw new CliError(
      `the data of this world is already in ${join(to.root, existing)}, where another world uses it; import it with another --data`,
    );
  const copied: string[] = [];
  const undo = () => {
    for (const id of copied) rmSync(join(to.root, id), { recursive: true, force: true });
  };
  const progress = showProgress("copying the data of the branches");
  try {
    for (const id of ids) checkForeignVolume(from, id);
    const newBases = new Map<string, string>();
    for (const id of ids) {
      const history = dirname(id);
      // Sets the owner first: without one, a server would not remove what a killed import leaves.
      to.own(history);
      const copy = async (source: string, directory: string, target: string) => {
        copied.push(directory);
        mkdirSync(dirname(target), { recursive: true, mode: 0o711 });
        await cp(source, target, COPY_OPTIONS);
      };
      await copy(join(from.root, id), id, join(to.root, id));
      for (const { path } of from.volume(id).bases) {
        if (newBases.has(path)) continue;
        // Under a name of its own: no other world may begin with the data of the sender.
        const base = `${history}/${BASE}-${randomBytes(4).toString("hex")}`;
        await copy(path, base, to.dataDirectory(base));
        newBases.set(path, to.dataDirectory(base));
      }
      const bases = from.volume(id).bases;
      to.setBases(
        id,
        bases.map((base) => ({ ...base, path: newBases.get(base.path) ?? base.path })),
      );
      await progress.report(copied.length, copied.length + ids.size);
    }
    const user = engineUser();
    for (const id of copied) {
      replaceSettings(join(to.root, id));
      // The copies still belong to the user who exported them; give them to Postgres.
      if (user !== undefined) await run("chown", ["-R", `${user.uid}:${user.gid}`, join(to.root, id)]);
      // The data must be durable before a world refers to it.
      await to.makeDurable(id);
    }
    return undo;
  } catch (error) {
    undo();
    throw error instanceof MissingVolume ? new CliError(error.message) : toFileError(to.root, error);
  } finally {
    progress.end();
  }
}

function volumeIds(file: string): ReadonlySet<string> {
  return new Set(volumesOf(readBranchData(file)));
}

function directoriesOf(ids: ReadonlySet<string>, volumes: Volumes): string[] {
  return [...new Set([...ids].flatMap((id) => volumes.directoriesOf(id)))];
}

async function copyVolumes(
  ids: ReadonlySet<string>,
  from: Volumes,
  to: string,
  signal?: AbortSignal,
): Promise<number> {
  const copied: string[] = [];
  const progress = showProgress("copying the data of the branches");
  try {
    // Throws if one is missing.
    for (const id of ids) from.volume(id);
    const directories = directoriesOf(ids, from);
    mkdirSync(to, { recursive: true, mode: 0o711 });
    for (const id of directories) {
      copied.push(join(to, id));
      await cp(join(from.root, id), join(to, id), COPY_OPTIONS);
      await progress.report(copied.length, directories.length);
      if (signal !== undefined) await throwIfInterrupted(signal);
    }
    return ids.size;
  } catch (error) {
    for (const path of copied) rmSync(path, { recursive: true, force: true });
    throw error instanceof MissingVolume ? new CliError(error.message) : toFileError(resolve(to), error);
  } finally {
    progress.end();
  }
}
