import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { stringify } from "yaml";
import { MIGRATIONS_FOLDER } from "../../app/compose.ts";
import { digestOf, recordedKey } from "../../app/in-process-target.ts";
import { renderFault } from "../../control/http/fault-fields.ts";
import { record as shownAs } from "../../control/routes/records.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import { withoutNames } from "../../scenario/file/matrix.ts";
import { recordSteps, type Shown, setupEnd } from "../../scenario/record/record-steps.ts";
import { type Cut, cutAt, type Point, worldAt } from "../../simulation/replay.ts";
import type { RecordedRequest } from "../../simulation/requests.ts";
import { putInPlace, removeDatabase, unfinished } from "../../store/file/atomic-file.ts";
import { amendFile } from "../../store/file/diverge-copy.ts";
import { emptySecrets } from "../../store/file/export-world.ts";
import { copyForWriting } from "../../store/file/open-read-only.ts";
import { readWorldRow } from "../../store/file/open-world.ts";
import { SqliteJournal } from "../../store/journal/sqlite-journal.ts";
import { CliError } from "../terminal/cli-error.ts";
import { newFile } from "../terminal/new-file.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { explainingFile, fileErrorOf, readWorldFile, worldFileAt } from "./world-database.ts";

export type Recorded = {
  readonly steps: number;
  readonly state: string | null;
  readonly omitted: readonly string[];
  readonly worldFile: string;
};
type Asked = { readonly data: string; readonly world: string; readonly from?: Point; readonly to?: Point; readonly out: string };
type Window = {
  readonly from: Cut;
  readonly to: Cut;
  readonly events: readonly RecordedEvent[];
  readonly requests: readonly RecordedRequest[];
};

const READ_AT_ONCE = 10_000;
/** A longer scenario is none that anybody reads; what lasts longer is for a snapshot. */
const MOST_EVENTS = 1_000_000;

const SHOWN: Shown = {
  activity: (activity) => shownAs(activity) as object,
  fault(definition) {
    const { on, when, effect } = renderFault({ ...definition, number: 0, setAt: 0, seen: 0, hits: 0 });
    return { on, when, effect };
  },
};

/** Writes a scenario and, beside it, the world that it begins with. Throws `CliError` where the history does not reach that far. */
export async function recordWorld({ data, world: name, from, to, out }: Asked): Promise<Recorded> {
  const file = worldFileAt(data, name);
  const target = newFile(out);
  const worldFile = newFile(join(dirname(target), `${basename(target).replace(/\.(ya?ml|json)$/, "")}.world.sqlite`));
  const reading = readWorldFile(file);
  const progress = showProgress("folding the journal");
  try {
    const row = readWorldRow(reading.sqlite);
    if (row === undefined) throw new CliError(`there is no world in ${file} yet`);
    const journal = new SqliteJournal(reading.sqlite, row);
    const window = windowOf(journal, { seq: row.seq, at: row.now }, from, to);
    const fold = (seq: number) => worldAt(journal, seq, (folded) => progress.report(folded, seq));
    const begin = await fold(window.from.seq);
    // A run gives a world without a key one of its own, and the recorded ones would be others.
    if (begin.apiKeys.size === 0)
      throw new CliError("at the point of --from this world has no key yet; leave --from out to begin when its first one was made");
    const state = digestOf(await fold(window.to.seq));
    const { steps, omitted } = recordSteps({ world: begin, ...window }, SHOWN, recordedKey);
    explainingFile(target, () => mkdirSync(dirname(target), { recursive: true }));
    await writeWorld(file, worldFile, { at: window.from.at, world: begin }, name);
    const scenario = {
      version: 1,
      about: `What happened in the world "${name}" from ${isoOf(window.from.at)} to ${isoOf(window.to.at)}.`,
      world: { file: basename(worldFile) },
      steps,
      length: window.to.at - window.from.at,
      // What is not reproduced may be what the state came from.
      ...(omitted.length === 0 ? { state } : {}),
    };
    writeFileSync(target, stringify(withoutNames(scenario), { lineWidth: 140 }), { flag: "wx" });
    return { steps: steps.length, state: omitted.length === 0 ? state : null, omitted, worldFile };
  } catch (error) {
    throw fileErrorOf(file, error);
  } finally {
    progress.end();
    reading.close();
  }
}

function windowOf(journal: SqliteJournal, head: Cut, from: Point | undefined, to: Point | undefined): Window {
  const cut = (point: Point) => {
    const found = cutAt(journal, point, head);
    if (!found.ok) throw new CliError(found.refusal.message);
    return found.value;
  };
  const begin = from ?? setupEnd(journal.events(0, READ_AT_ONCE));
  if (begin === undefined) throw new CliError("the beginning of this history is forgotten; say where to begin with --from");
  const first = cut(begin);
  const last = to === undefined ? head : cut(to);
  if (last.seq < first.seq || last.at < first.at) throw new CliError("--to lies before --from");
  if (last.seq - first.seq > MOST_EVENTS)
    throw new CliError(
      `there are ${last.seq - first.seq} events in between, at most ${MOST_EVENTS} can be recorded; choose a shorter time`,
    );
  const requests = requestsBetween(journal, first, last);
  return { from: first, to: last, events: journal.events(first.seq, last.seq - first.seq), requests };
}

function requestsBetween(journal: SqliteJournal, from: Cut, to: Cut): RecordedRequest[] {
  const between: RecordedRequest[] = [];
  let since = 0;
  for (;;) {
    const some = journal.requests(since, READ_AT_ONCE);
    const [oldest] = some;
    if (since === 0 && oldest !== undefined && oldest.number > 1 && oldest.at > from.at) {
      throw new CliError(
        `requests before ${isoOf(oldest.at)} are forgotten; begin later, or keep more of them: standin serve --requests-limit`,
      );
    }
    // What was answered before the cut has been seen by it.
    between.push(...some.filter(({ at, seq }) => at >= from.at && at <= to.at && seq <= to.seq && (seq > from.seq || at > from.at)));
    if (some.length < READ_AT_ONCE) return between;
    since = some.at(-1)?.number ?? since;
  }
}

/** The world as it was, without what came later and without secrets. */
async function writeWorld(
  file: string,
  target: string,
  cut: { readonly at: number; readonly world: Parameters<typeof digestOf>[0] },
  name: string,
): Promise<void> {
  const copy = unfinished(target);
  const options = { migrationsFolder: MIGRATIONS_FOLDER };
  removeDatabase(copy);
  try {
    explainingFile(target, () => copyForWriting(file, copy));
    await amendFile(copy, options, {
      historyId: randomUUID(),
      originWorld: name,
      clock: { mode: "manual", factor: 0, wallNow: Date.now() },
      cut,
    });
    explainingFile(target, () => {
      emptySecrets(copy, options);
      putInPlace(copy, target);
    });
  } finally {
    removeDatabase(copy);
  }
}

function isoOf(at: number): string {
  return new Date(at).toISOString();
}
