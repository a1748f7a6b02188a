import { appendFileSync, existsSync, rmSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { renderObject } from "../../control-api/http/render-object.ts";
import { renderState } from "../../control-api/routes/state.ts";
import type { SimTime } from "../../kernel/time.ts";
import { volumesOf } from "../../platform/model/branch-data.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
import { type PointSelector, resolvePoint, worldAt } from "../../simulation/replay.ts";
import { moveIntoPlace, removeDatabase } from "../../store/file/atomic-file.ts";
import { checkSchema } from "../../store/file/check-schema.ts";
import { findLosses } from "../../store/file/lost-changes.ts";
import { vacuumCopy } from "../../store/file/open-read-only.ts";
import { redactedHash, redactSecrets, withoutRemovedHash } from "../../store/file/redact-secrets.ts";
import { type Verification, type VerificationProgress, verifyFile } from "../../store/file/verify-world.ts";
import { createUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import type { DataDirectory } from "../../worlds/data-directory.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible, throwIfInterrupted } from "../terminal/interrupt.ts";
import { noteLargeOutput } from "../terminal/large-output.ts";
import { newFilePathInExistingDirectory } from "../terminal/new-file.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { formatTable } from "../terminal/text-table.ts";
import { exportData, exportedDataDirectory, hasBranchData, importData } from "./exported-data.ts";
import { openDataDirectory } from "./open-data-directory.ts";
import {
  openWorldDatabase,
  openWorldJournal,
  toFileError,
  worldDatabasePath,
  wrapFileErrors,
} from "./world-database.ts";

/** A world at a point in its history, rebuilt from the journal alone. */
export type ReplayedWorld = { readonly world: World; readonly at: SimTime };

/** Compares the tables of a world with its journal. */
export async function verifyWorld(path: string, name: string): Promise<Verification> {
  const file = worldDatabasePath(path, name);
  const progress = showProgress("replaying the journal");
  try {
    return await verifyWorldFile(file, progress.report);
  } finally {
    progress.end();
  }
}

export async function verifyWorldFile(file: string, progress: VerificationProgress): Promise<Verification> {
  // Before the database is opened: a server that uses it only adds to what the mark states.
  const losses = wrapFileErrors(file, () => findLosses(file)).map((message) => ({ where: "log", message }));
  const database = openWorldDatabase(file);
  try {
    const verification = await verifyFile(database.sqlite, progress, database.version);
    return {
      ...verification,
      ok: verification.ok && losses.length === 0,
      differences: [...losses, ...verification.differences],
    };
  } catch (error) {
    throw toFileError(file, error);
  } finally {
    database.close();
  }
}

export async function replayWorld(
  path: string,
  name: string,
  until: PointSelector | undefined,
): Promise<ReplayedWorld> {
  const file = worldDatabasePath(path, name);
  const database = openWorldDatabase(file);
  const progress = showProgress("replaying the journal");
  try {
    const { row, journal } = openWorldJournal(database, file);
    const resolvedPoint = resolvePoint(journal, until ?? { seq: row.seq }, { seq: row.seq, at: row.now });
    if (!resolvedPoint.ok) throw new CliError(`--until: ${resolvedPoint.refusal.message}`);
    const { seq, at } = resolvedPoint.value;
    const from = journal.checkpointBefore({ seq }).seq;
    return { world: await worldAt(journal, seq, (folded) => progress.report(folded, seq - from)), at };
  } catch (error) {
    throw toFileError(file, error);
  } finally {
    progress.end();
    database.close();
  }
}

/** A readable summary of a world; `renderState` has every detail. */
export function describeReplayedWorld({ world, at }: ReplayedWorld): string {
  const { settings, seq } = world;
  const counts = (
    [
      "accounts",
      "projects",
      "branches",
      "computes",
      "connections",
      "operations",
      "scheduledActivities",
    ] as const
  )
    .map((name) => `${world[name].size} ${COUNT_LABELS[name]}`)
    .join(", ");
  const rows = [...world.computes.values()].map((compute) => [
    compute.id,
    compute.projectId,
    compute.branchId,
    compute.phase.state,
    compute.phase.state === "active" ? `${compute.phase.sizeCu} CU` : "",
    new Date(compute.updatedAt).toISOString(),
  ]);
  const table =
    rows.length === 0
      ? []
      : ["", formatTable(["ENDPOINT", "PROJECT", "BRANCH", "STATE", "SIZE", "UPDATED"], rows)];
  const heading = `${new Date(at).toISOString()}, after event ${seq} (seed ${settings.seed}, profile ${settings.profile}, plan ${settings.plan})`;
  return [heading, counts, ...table].join("\n");
}

const COUNT_LABELS = {
  accounts: "accounts",
  projects: "projects",
  branches: "branches",
  computes: "endpoints",
  connections: "connections",
  operations: "unfinished operations",
  scheduledActivities: "scheduled activities",
};

export function replayedState({ world }: ReplayedWorld): ReturnType<typeof renderState> {
  return renderState(world);
}

/**
 * Exports the whole history of a world to one SQLite file, without secrets. With the directory of the volumes, also
 * exports the data of its branches.
 */
export async function exportWorld(path: string, name: string, out: string, volumes?: string): Promise<void> {
  const file = worldDatabasePath(path, name);
  const target = newFilePathInExistingDirectory(out);
  noteLargeOutput(target, statSync(file).size);
  // Verify first: the copy gets new checksums, which would hide any corruption of the source.
  await verifyOrThrow(path, file, name);
  // Until the secrets are removed, the copy has them, so an interrupted command must not leave it.
  await interruptible(async (signal) => {
    const copy = wrapFileErrors(target, () => createUnfinished(target, 0o600));
    const keepsBranchData = volumes !== undefined;
    try {
      wrapFileErrors(target, () => vacuumCopy(file, copy));
      await throwIfInterrupted(signal);
      wrapFileErrors(target, () =>
        redactSecrets(copy, { migrationsFolder: MIGRATIONS_FOLDER, keepsBranchData }),
      );
      await throwIfInterrupted(signal);
      if (keepsBranchData) await exportData(copy, volumes, target, signal);
      wrapFileErrors(target, () => moveIntoPlace(copy, target));
    } finally {
      removeDatabase(copy);
    }
  });
}

/**
 * Exports the journal of a world as NDJSON, in the format of `GET /_sim/events`, with the hashes of keys
 * redacted. Returns the number of events.
 */
export async function exportEvents(path: string, name: string, out: string): Promise<number> {
  const file = worldDatabasePath(path, name);
  const target = newFilePathInExistingDirectory(out);
  noteLargeOutput(target, statSync(file).size);
  await verifyOrThrow(path, file, name);
  return interruptible((signal) => writeEvents(file, target, signal));
}

async function writeEvents(file: string, target: string, signal: AbortSignal): Promise<number> {
  const database = openWorldDatabase(file);
  const temporary = wrapFileErrors(target, () => createUnfinished(target));
  const progress = showProgress("writing the journal");
  try {
    const { row, journal } = openWorldJournal(database, file);
    let [written, since] = [0, 0];
    for (
      let events = journal.events(since, EVENTS_PER_BATCH);
      events.length > 0;
      events = journal.events(since, EVENTS_PER_BATCH)
    ) {
      appendFileSync(
        temporary,
        events.map((event) => `${JSON.stringify(renderObject(withoutHash(event)))}\n`).join(""),
      );
      written += events.length;
      since = events.at(-1)?.seq ?? since;
      await progress.report(since, row.seq);
      await throwIfInterrupted(signal);
    }
    moveIntoPlace(temporary, target);
    return written;
  } catch (error) {
    throw toFileError(target, error);
  } finally {
    progress.end();
    database.close();
    rmSync(temporary, { force: true });
  }
}

const EVENTS_PER_BATCH = 5_000;

function withoutHash(event: RecordedEvent): RecordedEvent {
  if (event.type === "ApiKeyRemoved") return withoutRemovedHash(event);
  return event.type === "ApiKeyCreated"
    ? { ...event, apiKey: { ...event.apiKey, hash: redactedHash(event.apiKey.id) } }
    : event;
}

/**
 * Imports an exported file or a snapshot into a data directory, and the data of its branches, if `volumes` says where
 * to. Throws if the file does not verify.
 */
export async function importWorld(
  path: string,
  data: string,
  name: string,
  volumes?: string,
): Promise<Verification & { readonly data: "imported" | "left out" | "missing" | "none" }> {
  const file = worldDatabasePath(path, name);
  // First: a view could stand for a table.
  wrapFileErrors(file, () => checkSchema(file, MIGRATIONS_FOLDER));
  const verification = await verifyOrThrow(path, file, name);
  const directory = openDataDirectory(data);
  try {
    if (directory.worlds().includes(name))
      throw new CliError(`${resolve(data)} already has a world "${name}"; choose another --world or --data`);
    const hasData = existsSync(exportedDataDirectory(file));
    const undo =
      hasData && volumes !== undefined
        ? await importData(file, data, volumes, usedVolumes(directory))
        : () => undefined;
    try {
      wrapFileErrors(resolve(data), () => directory.importWorld(name, (copy) => vacuumCopy(file, copy)));
    } catch (error) {
      undo();
      throw error;
    }
    const withoutData = hasBranchData(file) ? (hasData ? "left out" : "missing") : "none";
    return { ...verification, data: hasData && volumes !== undefined ? "imported" : withoutData };
  } finally {
    directory.release();
  }
}

/** The volumes that the worlds and snapshots of a directory refer to; `undefined` if one of them cannot be read. */
function usedVolumes(directory: DataDirectory): ReadonlySet<string> | undefined {
  try {
    const data = directory
      .worlds()
      .flatMap((world) => [
        ...directory.branchData(world),
        ...directory.snapshotNames(world).flatMap((snapshot) => directory.branchData(world, snapshot)),
      ]);
    return new Set(volumesOf(data));
  } catch {
    return undefined;
  }
}

async function verifyOrThrow(path: string, file: string, name: string): Promise<Verification> {
  const verification = await verifyWorld(file, name);
  if (verification.ok) return verification;
  const [first] = verification.differences;
  throw new CliError(
    `${file} does not match its journal (${first?.where}: ${first?.message}); list all differences with: standin verify ${path}`,
  );
}
