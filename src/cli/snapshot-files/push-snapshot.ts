import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { OutcomeUnknown } from "../../simulation/journal.ts";
import { moveIntoPlace, removeDatabase } from "../../store/file/atomic-file.ts";
import { vacuumCopy } from "../../store/file/open-read-only.ts";
import { removeEmptyWal } from "../../store/file/sqlite-connection.ts";
import { createUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import { databasesIn, snapshotFilePath, snapshotFolder } from "../../worlds/directory-layout.ts";
import { hasBranchData } from "../history/exported-data.ts";
import { toFileError, wrapFileErrors } from "../history/world-database.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { printError } from "../terminal/print.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { checkSnapshotFile } from "./check-snapshot-file.ts";
import { digestFile, digestLine, digestOf } from "./file-digest.ts";
import { openObject } from "./open-object.ts";
import { newSnapshotFile, parsePlace, placeText } from "./snapshot-place.ts";

export type PushedSnapshot = {
  readonly snapshot: string;
  readonly world: string;
  /** Without the query of a presigned URL. */
  readonly to: string;
  readonly size_bytes: number;
  readonly sha256: string;
};

type PushOptions = { readonly data: string; readonly world: string; readonly to: string };

/**
 * Copies a snapshot of a data directory to a file, or to the object of a presigned URL. Only reads the data
 * directory, so a server may use it. Throws if the snapshot is damaged, or if the file exists.
 */
export async function pushSnapshot(
  name: string,
  { data, world, to }: PushOptions,
  signal: AbortSignal,
): Promise<PushedSnapshot> {
  const place = parsePlace(to, "--to");
  const object = place.kind === "object" ? await openObject(place.url, signal) : undefined;
  const directory = resolve(data);
  if (!databasesIn(snapshotFolder(directory, world)).includes(name))
    throw new CliError(
      `world "${world}" in ${directory} has no snapshot "${name}"; take one with: standin snapshots create ${name}${world === "default" ? "" : ` --world ${world}`}`,
    );
  const target = place.kind === "file" ? newSnapshotFile(place.path, name) : undefined;
  const work = mkdtempSync(join(tmpdir(), "standin-push-"));
  const progress = showProgress(`pushing snapshot ${name}`);
  try {
    const file = wrapFileErrors(directory, () => singleFile(snapshotFilePath(directory, world, name), work));
    await checkSnapshotFile(file, signal);
    if (hasBranchData(file))
      printError(
        "standin: the data of Postgres clients is not part of the snapshot's file; copy it with: standin export --with-data\n",
      );
    const sha256 =
      target === undefined
        ? await digestOf(file, signal, progress.report)
        : await copyWithDigest(file, target, signal, progress.report);
    await object?.upload(file, progress.report);
    const shown = target ?? placeText(place);
    return { snapshot: name, world, to: shown, size_bytes: statSync(file).size, sha256 };
  } finally {
    progress.end();
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The snapshot as one file. One that preserves a replaced world is in the write-ahead log's mode, and may have
 * such a log next to it.
 */
function singleFile(path: string, work: string): string {
  if (!usesLog(path)) return path;
  const copy = join(work, "snapshot.sqlite");
  vacuumCopy(path, copy);
  removeEmptyWal(path);
  return copy;
}

/** Byte 18 of an SQLite file is 2 in the write-ahead log's mode: https://www.sqlite.org/fileformat2.html */
function usesLog(path: string): boolean {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(20);
    readSync(file, header, 0, header.length, 0);
    return header[18] === 2;
  } finally {
    closeSync(file);
  }
}

/** Writes the checksum first: a copy never lacks the one that it was written with. */
export async function copyWithDigest(
  file: string,
  target: string,
  signal: AbortSignal,
  report: (done: number, of: number) => Promise<void>,
): Promise<string> {
  const { size } = statSync(file);
  const hash = createHash("sha256");
  const temporary = wrapFileErrors(target, () => createUnfinished(target, 0o600));
  try {
    await pipeline(
      createReadStream(file),
      async function* (chunks: AsyncIterable<Buffer>) {
        let done = 0;
        for await (const chunk of chunks) {
          hash.update(chunk);
          done += chunk.length;
          await report(done, size);
          yield chunk;
        }
      },
      createWriteStream(temporary, { mode: 0o600 }),
      { signal },
    );
    const sha256 = hash.digest("hex");
    writeDigest(target, sha256);
    moveBesideDigest(temporary, target);
    return sha256;
  } catch (error) {
    removeDatabase(temporary);
    if (signal.aborted) throw new CliError("interrupted; nothing was changed");
    throw toFileError(target, error);
  }
}

function writeDigest(target: string, sha256: string): void {
  const digest = digestFile(target);
  let temporary: string | undefined;
  try {
    temporary = createUnfinished(digest, 0o600);
    writeFileSync(temporary, digestLine(target, sha256));
    moveIntoPlace(temporary, digest);
  } catch (error) {
    throw asWriteError(digest, error);
  } finally {
    if (temporary !== undefined) rmSync(temporary, { force: true });
  }
}

/** Moves a copy into place. Without the copy, its checksum would prevent the next push. */
function moveBesideDigest(temporary: string, target: string): void {
  try {
    moveIntoPlace(temporary, target);
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw error;
    rmSync(digestFile(target), { force: true });
    throw asWriteError(target, error);
  }
}

function asWriteError(path: string, error: unknown): unknown {
  return error instanceof OutcomeUnknown ? error : new CliError(`${path}: ${writeProblem(error)}`);
}
