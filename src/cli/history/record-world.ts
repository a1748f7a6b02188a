import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { stringify } from "yaml";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { placeholderKey } from "../../app/scenario-world.ts";
import { worldDigest } from "../../app/world-digest.ts";
import { renderFault } from "../../control-api/http/fault-fields.ts";
import { renderObject as shownAs } from "../../control-api/http/render-object.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
import { escapePlaceholders } from "../../scenario/file/matrix.ts";
import type { ControlRenderers } from "../../scenario/record/control-calls.ts";
import { recordSteps, setupEnd } from "../../scenario/record/record-steps.ts";
import { takeCheckpoint } from "../../simulation/checkpoint.ts";
import { type HistoryPoint, type PointSelector, resolvePoint, worldAt } from "../../simulation/replay.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import { moveIntoPlace, removeDatabase, temporaryPath } from "../../store/file/atomic-file.ts";
import { divergeCopy } from "../../store/file/diverge-copy.ts";
import { vacuumCopy } from "../../store/file/open-read-only.ts";
import { type OpenOptions, openStore } from "../../store/file/open-world.ts";
import { redactSecrets } from "../../store/file/redact-secrets.ts";
import type { SqliteJournal } from "../../store/journal/sqlite-journal.ts";
import { CliError } from "../terminal/cli-error.ts";
import { newFilePath } from "../terminal/new-file.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { embedWorld, MAX_EMBEDDED_BYTES } from "./embedded-world.ts";
import {
  openWorldDatabase,
  openWorldJournal,
  toFileError,
  worldDatabasePath,
  wrapFileErrors,
} from "./world-database.ts";

export type RecordResult = {
  readonly steps: number;
  readonly state: string | null;
  readonly omitted: readonly string[];
  /** `undefined` if the scenario contains its initial world. */
  readonly worldFile: string | undefined;
};
type RecordInput = {
  readonly data: string;
  readonly world: string;
  readonly from?: PointSelector;
  readonly to?: PointSelector;
  readonly out: string;
  /** Puts the initial world into the scenario file instead of a file next to it. */
  readonly embedsWorld?: boolean;
};
type RecordingWindow = {
  readonly from: HistoryPoint;
  readonly to: HistoryPoint;
  readonly events: readonly RecordedEvent[];
  readonly requests: readonly RequestLogEntry[];
};

const ROWS_PER_BATCH = 10_000;
/** A longer scenario is not readable; for longer histories use a snapshot. */
const MAX_EVENTS = 1_000_000;

const CONTROL_RENDERERS: ControlRenderers = {
  activity: (activity) => shownAs(activity) as object,
  fault(definition) {
    const { on, when, effect } = renderFault({ ...definition, number: 0, setAt: 0, seen: 0, hits: 0 });
    return { on, when, effect };
  },
};

/**
 * Writes a scenario and its initial world. Throws `CliError` if the history does not reach back far enough.
 */
export async function recordWorld({
  data,
  world: name,
  from,
  to,
  out,
  embedsWorld = false,
}: RecordInput): Promise<RecordResult> {
  const file = worldDatabasePath(data, name);
  const scenarioPath = newFilePath(out);
  const worldFile = newFilePath(
    join(dirname(scenarioPath), `${basename(scenarioPath).replace(/\.(ya?ml|json)$/, "")}.world.sqlite`),
  );
  const database = openWorldDatabase(file);
  const progress = showProgress("replaying the journal");
  try {
    const { row, journal } = openWorldJournal(database, file);
    const recordingWindow = resolveWindow(journal, { seq: row.seq, at: row.now }, from, to);
    const fold = (seq: number) => worldAt(journal, seq, (folded) => progress.report(folded, seq));
    const initialWorld = await fold(recordingWindow.from.seq);
    // A run creates a key in a world that has none, so its keys would differ from the recorded ones.
    if (initialWorld.apiKeys.size === 0)
      throw new CliError(
        "--from: the world has no API key at this point; omit --from to start when the first key was created",
      );
    const state = worldDigest(await fold(recordingWindow.to.seq));
    const { steps, omitted } = recordSteps(
      { world: initialWorld, ...recordingWindow },
      CONTROL_RENDERERS,
      placeholderKey,
    );
    wrapFileErrors(scenarioPath, () => mkdirSync(dirname(scenarioPath), { recursive: true }));
    await writeWorld(file, worldFile, {
      rewindTo: { at: recordingWindow.from.at, world: initialWorld },
      originWorld: name,
      // A text should be short.
      withoutHistory: embedsWorld,
    });
    const scenario = {
      version: 1,
      about: `What happened in the world "${name}" from ${isoOf(recordingWindow.from.at)} to ${isoOf(recordingWindow.to.at)}.`,
      ...(embedsWorld ? {} : { world: { file: basename(worldFile) } }),
      steps,
      length: `${recordingWindow.to.at - recordingWindow.from.at}ms`,
      // The final state may depend on what could not be reproduced.
      ...(omitted.length === 0 ? { state } : {}),
      // At the end, because it is long.
      ...(embedsWorld ? { world: { file: takeEmbedded(worldFile) } } : {}),
    };
    writeFileSync(scenarioPath, stringify(escapePlaceholders(scenario), { lineWidth: 140 }), { flag: "wx" });
    return {
      steps: steps.length,
      state: omitted.length === 0 ? state : null,
      omitted,
      worldFile: embedsWorld ? undefined : worldFile,
    };
  } catch (error) {
    throw toFileError(file, error);
  } finally {
    progress.end();
    database.close();
  }
}

function resolveWindow(
  journal: SqliteJournal,
  head: HistoryPoint,
  from: PointSelector | undefined,
  to: PointSelector | undefined,
): RecordingWindow {
  const resolve = (option: string, point: PointSelector) => {
    const resolved = resolvePoint(journal, point, head);
    if (!resolved.ok) throw new CliError(`${option}: ${resolved.refusal.message}`);
    return resolved.value;
  };
  const startPoint = from ?? setupEnd(journal.events(0, ROWS_PER_BATCH));
  if (startPoint === undefined)
    throw new CliError("the beginning of this history has been deleted; choose a starting point with --from");
  const first = resolve("--from", startPoint);
  const last = to === undefined ? head : resolve("--to", to);
  if (last.seq < first.seq || last.at < first.at) throw new CliError("--to is before --from");
  if (last.seq - first.seq > MAX_EVENTS)
    throw new CliError(
      `--from and --to enclose ${last.seq - first.seq} events; at most ${MAX_EVENTS} can be recorded, so choose a shorter period`,
    );
  const requests = requestsBetween(journal, first, last);
  return { from: first, to: last, events: journal.events(first.seq, last.seq - first.seq), requests };
}

function requestsBetween(journal: SqliteJournal, from: HistoryPoint, to: HistoryPoint): RequestLogEntry[] {
  const collected: RequestLogEntry[] = [];
  let since = 0;
  for (;;) {
    const batch = journal.requests(since, ROWS_PER_BATCH);
    const [oldest] = batch;
    if (since === 0 && oldest !== undefined && oldest.number > 1 && oldest.at > from.at) {
      throw new CliError(
        `requests before ${isoOf(oldest.at)} are no longer in the request log; choose a later --from, or retain more requests with: standin serve --requests-limit`,
      );
    }
    // Requests answered before the starting point are already part of the initial world.
    collected.push(
      ...batch.filter(
        ({ at, seq }) => at >= from.at && at <= to.at && seq <= to.seq && (seq > from.seq || at > from.at),
      ),
    );
    if (batch.length < ROWS_PER_BATCH) return collected;
    since = batch.at(-1)?.number ?? since;
  }
}

type InitialWorld = {
  readonly rewindTo: { readonly at: number; readonly world: World };
  readonly originWorld: string;
  readonly withoutHistory: boolean;
};

/** Writes the world as of a point in its history, without secrets. */
async function writeWorld(
  file: string,
  target: string,
  { rewindTo, originWorld, withoutHistory }: InitialWorld,
): Promise<void> {
  const copy = temporaryPath(target);
  const options = { migrationsFolder: MIGRATIONS_FOLDER };
  removeDatabase(copy);
  try {
    wrapFileErrors(target, () => vacuumCopy(file, copy));
    await divergeCopy(copy, options, {
      historyId: randomUUID(),
      originWorld,
      clock: { mode: "manual", factor: 0, wallNow: Date.now() },
      rewindTo,
    });
    if (withoutHistory) await deleteHistory(copy, options);
    wrapFileErrors(target, () => {
      redactSecrets(copy, options);
      moveIntoPlace(copy, target);
    });
  } finally {
    removeDatabase(copy);
  }
}

async function deleteHistory(copy: string, options: OpenOptions): Promise<void> {
  const { journal, world, close } = openStore(copy, options);
  try {
    await journal.storeCheckpoint(takeCheckpoint(world));
    journal.truncate({ eventsUpTo: world.seq, operationsBefore: 0 });
    while (!journal.prune()) await nextTurn();
  } finally {
    close();
  }
}

function takeEmbedded(worldFile: string): string {
  const embedded = embedWorld(worldFile);
  removeDatabase(worldFile);
  if (embedded !== undefined) return embedded;
  throw new CliError(
    `the initial world is larger than ${MAX_EMBEDDED_BYTES / 2 ** 20} MiB; write it to a file of its own with: standin record`,
  );
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
