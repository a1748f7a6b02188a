import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { constants, copyFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { snapshotName } from "../../control-api/http/control-fields.ts";
import { issueText } from "../../input-limits/issue-text.ts";
import { makeDirectory, moveIntoPlace, removeDatabase, temporaryPath } from "../../store/file/atomic-file.ts";
import { readFileInfo } from "../../store/file/world-snapshot.ts";
import { DataDirectory } from "../../worlds/data-directory.ts";
import { snapshotFilePath } from "../../worlds/directory-layout.ts";
import { openSecretBox } from "../../worlds/secret-box.ts";
import { hasBranchData } from "../history/exported-data.ts";
import { openWorldDatabase, toFileError } from "../history/world-database.ts";
import { CliError } from "../terminal/cli-error.ts";
import { checkInputExists } from "../terminal/input-file.ts";
import { printError } from "../terminal/print.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { checkSnapshotFile } from "./check-snapshot-file.ts";
import { createPulledWorld } from "./create-pulled-world.ts";
import { digestOf, storedDigest } from "./file-digest.ts";
import { openObject } from "./open-object.ts";
import { nameFromPlace, parsePlace, placeText, type SnapshotPlace } from "./snapshot-place.ts";

export type PulledSnapshot = {
  readonly world: string;
  /** Whether the world was created from the snapshot. */
  readonly created_world: boolean;
  /** The name of the snapshot that was added to an existing world. */
  readonly snapshot?: string;
  readonly size_bytes: number;
  readonly sha256: string;
  readonly seq: number;
  readonly now: string;
};

export type PullOptions = {
  readonly data: string;
  readonly world: string;
  readonly controlToken?: string;
  /** The snapshot's name in the world (default: the name of its file). */
  readonly name?: string;
  /** Expected SHA-256 of the file. */
  readonly sha256?: string;
};

/**
 * Adds a pushed snapshot to a world of a data directory, or creates the world from it if there is none of this
 * name. Works while a server uses the directory. If it fails, nothing has changed.
 */
export async function pullSnapshot(
  source: string,
  options: PullOptions,
  signal: AbortSignal,
): Promise<PulledSnapshot> {
  const place = parsePlace(source, "source");
  const data = resolve(options.data);
  const { world } = options;
  const isNew = !DataDirectory.hasWorld(data, world);
  const name = isNew ? undefined : freeName(data, world, options.name ?? nameFromPlace(place));
  const work = mkdtempSync(join(tmpdir(), "standin-pull-"));
  try {
    const file = join(work, "snapshot.sqlite");
    const sha256 = await fetchTo(file, place, options.sha256, signal);
    await checkSnapshotFile(file, signal).catch((error: unknown) => {
      throw error instanceof CliError
        ? new CliError(error.message.replaceAll(file, placeText(place)))
        : error;
    });
    warnOfMissingParts(file, data);
    if (name === undefined) await createPulledWorld(file, { ...options, data }, signal);
    else await addSnapshot(file, data, world, name);
    const { seq, now } = readFileInfo(file);
    const size_bytes = statSync(file).size;
    const at = { seq, now: new Date(now).toISOString() };
    return { world, created_world: isNew, ...(name && { snapshot: name }), size_bytes, sha256, ...at };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function freeName(data: string, world: string, name: string): string {
  const parsed = snapshotName.safeParse(name, { error: issueText });
  if (!parsed.success)
    throw new CliError(`--name: a snapshot's name ${parsed.error.issues[0]?.message}, got "${name}"`, true);
  if (existsSync(snapshotFilePath(data, world, name)))
    throw new CliError(`world "${world}" already has a snapshot "${name}"; choose another --name`);
  return name;
}

/** Copies the snapshot to `file` and checks it against its checksum. */
async function fetchTo(
  file: string,
  place: SnapshotPlace,
  expected: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const progress = showProgress("pulling the snapshot");
  try {
    if (place.kind === "object") {
      const object = await openObject(place.url, signal);
      const sha256 = await object.download(file, progress.report);
      return checkDigest(place, sha256, expected, "--sha256");
    }
    checkInputExists(place.path, "source");
    if (!statSync(place.path).isFile()) throw new CliError(`source: ${place.path} is not a file`, true);
    await copyFile(place.path, file, constants.COPYFILE_FICLONE);
    chmodSync(file, 0o600);
    const sha256 = await digestOf(file, signal, progress.report);
    checkDigest(place, sha256, storedDigest(place.path), `${place.path}.sha256`);
    return checkDigest(place, sha256, expected, "--sha256");
  } catch (error) {
    throw toFileError(placeText(place), error);
  } finally {
    progress.end();
  }
}

function checkDigest(place: SnapshotPlace, sha256: string, expected: string | undefined, by: string): string {
  if (expected === undefined || expected === sha256) return sha256;
  throw new CliError(
    `${placeText(place)} is not the file that was pushed: its SHA-256 is ${sha256}, but ${by} states ${expected}`,
  );
}

/** Data that a world needs in addition to the snapshot's file. */
function warnOfMissingParts(file: string, data: string): void {
  if (hasBranchData(file))
    printError(
      `standin: the data of Postgres clients is not part of the snapshot's file; branches whose volumes are not in ${data} reject clients\n`,
    );
  if (hasUnreadablePasswords(file, join(data, "secrets.key")))
    printError(
      `standin: the role passwords in the snapshot were encrypted with another secrets.key; calls that return them are 412 until the passwords are reset\n`,
    );
}

function hasUnreadablePasswords(file: string, keyFile: string): boolean {
  const { sqlite, close } = openWorldDatabase(file);
  try {
    const secret = sqlite
      .prepare<[], { id: string; value: string }>("SELECT id, value FROM secrets LIMIT 1")
      .get();
    if (secret === undefined) return false;
    return !existsSync(keyFile) || openSecretBox(keyFile).open(secret.id, secret.value) === undefined;
  } finally {
    close();
  }
}

/** A server lists the snapshots that are in the directory, so it needs no other message. */
async function addSnapshot(file: string, data: string, world: string, name: string): Promise<void> {
  const path = snapshotFilePath(data, world, name);
  // Not the name that a server would use, but one that its next start removes.
  const temporary = temporaryPath(snapshotFilePath(data, world, `${name}.pull-${process.pid}`));
  try {
    makeDirectory(dirname(path));
    await copyFile(file, temporary, constants.COPYFILE_FICLONE);
    freeName(data, world, name);
    moveIntoPlace(temporary, path);
    if (DataDirectory.hasWorld(data, world)) return;
    removeDatabase(path);
    throw new CliError(`world "${world}" was deleted or has moved while the snapshot was pulled`);
  } catch (error) {
    removeDatabase(temporary);
    throw toFileError(path, error);
  }
}
