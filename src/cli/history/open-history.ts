import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { MIGRATIONS_FOLDER } from "../../app/compose.ts";
import { record } from "../../control/routes/records.ts";
import { renderState } from "../../control/routes/state.ts";
import type { SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { cutAt, type Point, worldAt } from "../../simulation/replay.ts";
import { putInPlace, removeDatabase, unfinished } from "../../store/file/atomic-file.ts";
import { emptiedHash, emptySecrets } from "../../store/file/export-world.ts";
import { copyForWriting } from "../../store/file/open-read-only.ts";
import { readWorldRow } from "../../store/file/open-world.ts";
import { type Verification, verifyFile } from "../../store/file/verify-world.ts";
import { SqliteJournal } from "../../store/journal/sqlite-journal.ts";
import { DataDirectory, DirectoryInUse } from "../../worlds/data-directory.ts";
import { CliError } from "../terminal/cli-error.ts";
import { newFileAt } from "../terminal/new-file.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { formatTable } from "../terminal/text-table.ts";
import { explainingFile, fileErrorOf, readWorldFile, worldFileAt } from "./world-database.ts";

/** A world at a point of its history, as the journal alone tells it. */
export type Replayed = { readonly world: World; readonly at: SimTime };

/** Compares a world's tables with its journal. */
export async function verifyWorld(path: string, name: string): Promise<Verification> {
  const file = worldFileAt(path, name);
  const reading = readWorldFile(file);
  const progress = showProgress("folding the journal");
  try {
    return await verifyFile(reading.sqlite, progress.report);
  } catch (error) {
    throw fileErrorOf(file, error);
  } finally {
    progress.end();
    reading.close();
  }
}

export async function replayWorld(path: string, name: string, until: Point | undefined): Promise<Replayed> {
  const file = worldFileAt(path, name);
  const reading = readWorldFile(file);
  const progress = showProgress("folding the journal");
  try {
    const row = readWorldRow(reading.sqlite);
    if (row === undefined) throw new CliError(`there is no world in ${file} yet`);
    const journal = new SqliteJournal(reading.sqlite, row);
    const cut = cutAt(journal, until ?? { seq: row.seq }, { seq: row.seq, at: row.now });
    if (!cut.ok) throw new CliError(cut.refusal.message);
    const { seq, at } = cut.value;
    const from = journal.checkpointBefore({ seq }).seq;
    return { world: await worldAt(journal, seq, (folded) => progress.report(folded, seq - from)), at };
  } catch (error) {
    throw fileErrorOf(file, error);
  } finally {
    progress.end();
    reading.close();
  }
}

/** What a person wants to see of a world; `renderState` has the rest. */
export function describeReplayed({ world, at }: Replayed): string {
  const { settings, seq } = world;
  const counts = (["accounts", "projects", "branches", "computes", "connections", "operations", "scheduledActivities"] as const)
    .map((name) => `${world[name].size} ${COUNTED[name]}`)
    .join(", ");
  const rows = [...world.computes.values()].map((compute) => [
    compute.id,
    compute.projectId,
    compute.branchId,
    compute.phase.state,
    compute.phase.state === "active" ? `${compute.phase.sizeCu} CU` : "",
    new Date(compute.updatedAt).toISOString(),
  ]);
  const table = rows.length === 0 ? [] : ["", formatTable(["ENDPOINT", "PROJECT", "BRANCH", "STATE", "SIZE", "UPDATED"], rows)];
  const heading = `${new Date(at).toISOString()}, after event ${seq}: seed ${settings.seed}, profile ${settings.profile}, plan ${settings.plan}`;
  return [heading, counts, ...table].join("\n");
}

const COUNTED = {
  accounts: "accounts",
  projects: "projects",
  branches: "branches",
  computes: "endpoints",
  connections: "connections",
  operations: "unfinished operations",
  scheduledActivities: "scheduled activities",
};

export function stateOf({ world }: Replayed): ReturnType<typeof renderState> {
  return renderState(world);
}

/** Writes a world's whole history into one file, with the secrets emptied. Gives the size of the file. */
export async function exportWorld(path: string, name: string, out: string): Promise<void> {
  const file = worldFileAt(path, name);
  const target = newFileAt(out);
  // What is written anew would prove what was damaged.
  await verifySound(path, file, name);
  const copy = unfinished(target);
  removeDatabase(copy);
  try {
    explainingFile(target, () => {
      copyForWriting(file, copy);
      emptySecrets(copy, { migrationsFolder: MIGRATIONS_FOLDER });
      putInPlace(copy, target);
    });
  } finally {
    removeDatabase(copy);
  }
}

/** Writes a world's journal, an event a line as `GET /_sim/events` shows it, with the hashes of keys emptied. Gives the number of events. */
export async function exportEvents(path: string, name: string, out: string): Promise<number> {
  const file = worldFileAt(path, name);
  const target = newFileAt(out);
  await verifySound(path, file, name);
  const reading = readWorldFile(file);
  const aside = unfinished(target);
  const progress = showProgress("writing the journal");
  try {
    const row = readWorldRow(reading.sqlite);
    if (row === undefined) throw new CliError(`there is no world in ${file} yet`);
    const journal = new SqliteJournal(reading.sqlite, row);
    let [written, since] = [0, 0];
    writeFileSync(aside, "");
    for (let events = journal.events(since, EVENTS_AT_ONCE); events.length > 0; events = journal.events(since, EVENTS_AT_ONCE)) {
      appendFileSync(aside, events.map((event) => `${JSON.stringify(record(withoutHash(event)))}\n`).join(""));
      written += events.length;
      since = events.at(-1)?.seq ?? since;
      await progress.report(since, row.seq);
    }
    putInPlace(aside, target);
    return written;
  } catch (error) {
    throw fileErrorOf(target, error);
  } finally {
    progress.end();
    reading.close();
    rmSync(aside, { force: true });
  }
}

const EVENTS_AT_ONCE = 5_000;

function withoutHash(event: RecordedEvent): RecordedEvent {
  return event.type === "ApiKeyCreated" ? { ...event, apiKey: { ...event.apiKey, hash: emptiedHash(event.apiKey.id) } } : event;
}

/** Puts a file that was exported, or a snapshot, into a data directory as a world. What does not verify is refused. */
export async function importWorld(path: string, data: string, name: string): Promise<Verification> {
  const file = worldFileAt(path, name);
  const verification = await verifySound(path, file, name);
  const directory = openDirectory(data);
  try {
    if (directory.worlds().includes(name))
      throw new CliError(`there is a world "${name}" in ${resolve(data)} already; choose another --world or --data`);
    explainingFile(resolve(data), () => directory.adopt(name, (copy) => copyForWriting(file, copy)));
  } finally {
    directory.release();
  }
  return verification;
}

async function verifySound(path: string, file: string, name: string): Promise<Verification> {
  const verification = await verifyWorld(file, name);
  if (verification.ok) return verification;
  const [first] = verification.differences;
  throw new CliError(`${file} is not what its journal tells (${first?.where}: ${first?.message}); see: standin verify ${path}`);
}

function openDirectory(data: string): DataDirectory {
  mkdirSync(resolve(data), { recursive: true });
  try {
    return new DataDirectory(resolve(data), MIGRATIONS_FOLDER);
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CliError(error.message);
    throw error;
  }
}
