import { mkdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { placeholderKey } from "../../app/targets/scenario-world.ts";
import { worldDigest } from "../../app/targets/world-digest.ts";
import { renderFault } from "../../control-api/http/fault-fields.ts";
import { renderObject as shownAs } from "../../control-api/http/render-object.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import type { World } from "../../platform/world/world.ts";
import type { FailedStatement } from "../../scenario/file/failed-schema.ts";
import type { ControlRenderers } from "../../scenario/record/control-calls.ts";
import { recordSteps, setupEnd } from "../../scenario/record/record-steps.ts";
import { type HistoryPoint, type PointSelector, resolvePoint, worldAt } from "../../simulation/replay.ts";
import type { RequestLogEntry } from "../../simulation/request-log.ts";
import { removeDatabase } from "../../store/file/atomic-file.ts";
import type { SqliteJournal } from "../../store/journal/sqlite-journal.ts";
import { CliError } from "../terminal/cli-error.ts";
import { newFilePath } from "../terminal/new-file.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { droppedStatements } from "./dropped-statements.ts";
import { embedOrKeep, MAX_EMBEDDED_BYTES, takeEmbedded } from "./embedded-world.ts";
import { hasBranchData } from "./exported-data.ts";
import { failedEntry, writeScenarioFile } from "./failed-world.ts";
import { type PendingWorld, placeWorlds } from "./failure-files.ts";
import { copyWorldAt, unfinishedWorldAt } from "./world-copy.ts";
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
  /** The test that failed at the end. Its worlds are put into the file if they are not too large. */
  readonly failedTest?:
    | {
        readonly name: string;
        readonly message: string;
        readonly sql?: readonly FailedStatement[] | undefined;
      }
    | undefined;
};
type RecordingWindow = {
  readonly from: HistoryPoint;
  readonly to: HistoryPoint;
  readonly events: readonly RecordedEvent[];
  readonly requests: readonly RequestLogEntry[];
};

const ROWS_PER_BATCH = 10_000;
/** Most events of a recording. For a longer history, use a snapshot. */
const MAX_EVENTS = 1_000_000;
/** Longest name that the format of scenarios allows, in characters. */
const MAX_SCENARIO_NAME = 200;

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
  failedTest,
}: RecordInput): Promise<RecordResult> {
  const file = worldDatabasePath(data, name);
  const paths = newPaths(out);
  const pending: PendingWorld[] = [];
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
    const finalWorld = await fold(recordingWindow.to.seq);
    const { steps, omitted: withoutStep } = recordSteps(
      { world: initialWorld, ...recordingWindow },
      CONTROL_RENDERERS,
      placeholderKey,
    );
    const omitted = [
      ...withoutStep,
      // Without data of branches, no Postgres client has connected.
      ...(hasBranchData(file)
        ? droppedStatements(recordingWindow.events, failedTest?.sql !== undefined)
        : []),
    ];
    // The final state may depend on what has no step. It does not depend on rows.
    const state = withoutStep.length === 0 ? worldDigest(finalWorld) : null;
    await writeRecording(paths, pending, file, {
      ...{ name, recordingWindow, initialWorld, finalWorld, steps, state, omitted, embedsWorld, failedTest },
    });
    const isBeside = !embedsWorld && failedTest === undefined;
    return { steps: steps.length, state, omitted, worldFile: isBeside ? paths.world : undefined };
  } catch (error) {
    for (const { unfinished } of pending) removeDatabase(unfinished);
    for (const path of [paths.world, paths.failed]) removeDatabase(path);
    throw toFileError(file, error);
  } finally {
    progress.end();
    database.close();
  }
}

type Recording = {
  /** Name of the world. */
  readonly name: string;
  readonly recordingWindow: RecordingWindow;
  readonly initialWorld: World;
  readonly finalWorld: World;
  readonly steps: readonly object[];
  readonly state: string | null;
  readonly omitted: readonly string[];
  readonly embedsWorld: boolean;
  readonly failedTest: RecordInput["failedTest"];
};

/** Writes the worlds and the scenario. Those of a failed test are `pending` until the scenario is written. */
async function writeRecording(
  paths: ReturnType<typeof newPaths>,
  pending: PendingWorld[],
  file: string,
  {
    name,
    recordingWindow,
    initialWorld,
    finalWorld,
    steps,
    state,
    omitted,
    embedsWorld,
    failedTest,
  }: Recording,
): Promise<void> {
  const { from, to } = recordingWindow;
  const end = isoOf(to.at);
  wrapFileErrors(paths.scenario, () => mkdirSync(dirname(paths.scenario), { recursive: true }));
  // A text should be short.
  const isShort = embedsWorld || failedTest !== undefined;
  const initial = {
    rewindTo: { ...from, world: initialWorld },
    originWorld: name,
    withHistory: !isShort,
  };
  const final = {
    rewindTo: { ...to, world: finalWorld },
    originWorld: name,
    withHistory: true,
    keepsRequests: true,
  };
  if (failedTest === undefined) await copyWorldAt(file, paths.world, initial);
  else
    for (const [path, copied] of [
      [paths.world, initial],
      [paths.failed, final],
    ] as const)
      pending.push({ path, unfinished: await unfinishedWorldAt(file, path, copied) });
  const [pendingInitial, pendingFinal] = pending;
  const world = {
    file: embedsWorld
      ? requireEmbedded(paths.world)
      : pendingInitial !== undefined
        ? embedOrKeep(pendingInitial)
        : basename(paths.world),
  };
  writeScenarioFile(paths.scenario, {
    version: 1,
    ...(failedTest === undefined
      ? { about: `What happened in the world "${name}" from ${isoOf(from.at)} to ${end}.` }
      : {
          name: failedTest.name.slice(0, MAX_SCENARIO_NAME),
          about: `What the failed test did to its world until ${end}.`,
        }),
    ...(isShort ? {} : { world }),
    steps,
    length: `${to.at - from.at}ms`,
    ...(state === null ? {} : { state }),
    // At the end, because they are long.
    ...(isShort ? { world } : {}),
    ...(failedTest === undefined || pendingInitial === undefined || pendingFinal === undefined
      ? {}
      : {
          failed: failedEntry(
            { by: "test", what: failedTest.name, message: failedTest.message, sql: failedTest.sql },
            ...([end, omitted, pendingFinal, [pendingInitial]] as const),
          ),
        }),
  });
  placeWorlds(pending);
}

/** The files of a recording. Throws if one exists. */
function newPaths(out: string) {
  const scenario = newFilePath(out);
  const name = basename(scenario).replace(/\.(ya?ml|json)$/, "");
  const beside = (ending: string) => newFilePath(join(dirname(scenario), `${name}.${ending}`));
  return { scenario, world: beside("world.sqlite"), failed: beside("failed.sqlite") };
}

function requireEmbedded(worldFile: string): string {
  const embedded = takeEmbedded(worldFile);
  if (embedded !== undefined) return embedded;
  throw new CliError(
    `the initial world is larger than ${MAX_EMBEDDED_BYTES / 2 ** 20} MiB; write it to a file of its own with: standin record`,
  );
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

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
