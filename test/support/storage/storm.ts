import { cpSync, mkdirSync, openSync, rmSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import type { RecordedEvent } from "../../../src/platform/events.ts";
import { type Batch, OutcomeUnknown } from "../../../src/simulation/journal.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import type { History, OpenHistory } from "../../../src/worlds/world-storage.ts";
import { type ApiResponse, createDouble, type Double, START } from "../double.ts";
import { verify } from "../storage-double.ts";
import { DiskModel, type DiskRecord, type Draw, readRecording } from "./disk-image.ts";

/** What one seed did. */
export type StormReport = {
  readonly seed: number;
  readonly answers: number;
  /** Answers with a 5xx status, and those of them whose outcome was unknown. */
  readonly failed: number;
  readonly unknown: number;
  readonly failures: number;
  readonly powerCuts: number;
};

const STEPS = 24;
/** Power cuts at any moment, and shortly after a failed call. */
const POWER_CUTS = 2;
const POWER_CUTS_AFTER_FAILURES = 3;
/** Number of records after a failed call during which a power cut is most likely to find a bug. */
const AFTERMATH = 12;
const CALLS = ["w", "s", "s", "st", "o", "t", "r", "u", "ws", "wst", "wsotru"] as const;
const { EIO, ENOSPC, EMFILE } = constants.errno;
const ERRORS = [EIO, ENOSPC, EMFILE];

/**
 * Runs a random workload on a world while calls of the storage fail, then cuts the power at random moments and
 * checks every disk that may be left. Throws at the first violation. Requires the shim.
 */
export async function runStormSeed(seed: number, scratch: string): Promise<StormReport> {
  const next = randomFrom(seed).stream("storm", 1);
  const draw: Draw = (below) => (below <= 0 ? 0 : next() % below);
  const data = join(scratch, "data");
  const log = join(scratch, "recording");
  for (const directory of [data, join(scratch, "killed")])
    rmSync(directory, { recursive: true, force: true });
  cpSync(await templateIn(scratch), data, { recursive: true });
  const disk = new DiskModel(data, draw);
  const ledger = new Ledger();
  control(`record/${escaped(log)}/${escaped(`${data}/`)}`);
  const counts = { answers: 0, failed: 0, unknown: 0 };
  try {
    await work(data, join(scratch, "killed"), ledger, draw, counts);
  } finally {
    control("stop");
  }
  const records = readRecording(log);
  const powerCuts = await cutPower(records, disk, ledger, join(scratch, "image"), draw);
  const failures = records.filter(({ kind }) => kind === "failure").length;
  return { seed, ...counts, failures, powerCuts };
}

/** The committed events at each marker of a recording, and the batch whose outcome is open. */
class Ledger {
  readonly #states: LedgerState[] = [{ committed: [], open: undefined }];

  get state(): LedgerState {
    return this.#states.at(-1) as LedgerState;
  }

  at(marker: number): LedgerState {
    return this.#states[marker] as LedgerState;
  }

  /** The state after this marker of the recording. */
  add(state: LedgerState): void {
    control(`mark/${this.#states.length}`);
    this.#states.push(state);
  }

  /** Follows what a journal reports of its commits. */
  follow(history: History): History {
    const { journal } = history;
    const [write, undo] = [journal.write.bind(journal), journal.undoFailedWrite.bind(journal)];
    if (this.#states.length === 1)
      this.add({ committed: journal.events(0, Number.MAX_SAFE_INTEGER), open: undefined });
    journal.write = (batch: Batch) => {
      const { committed } = this.state;
      const all = [...committed, ...batch.events];
      this.add({ committed, open: all });
      try {
        write(batch);
      } catch (error) {
        if (!(error instanceof OutcomeUnknown)) this.add({ committed, open: undefined });
        throw error;
      }
      this.add({ committed: all, open: undefined });
    };
    journal.undoFailedWrite = () => {
      undo();
      this.add({ committed: this.state.committed, open: undefined });
    };
    return history;
  }
}

type LedgerState = {
  readonly committed: readonly RecordedEvent[];
  readonly open: readonly RecordedEvent[] | undefined;
};

class FollowedDirectory extends DataDirectory {
  readonly #ledger: Ledger;

  constructor(path: string, ledger: Ledger) {
    super(path, MIGRATIONS_FOLDER);
    this.#ledger = ledger;
  }

  override history(world: string): OpenHistory {
    const open = super.history(world);
    return () => this.#ledger.follow(open());
  }
}

async function work(
  data: string,
  killed: string,
  ledger: Ledger,
  draw: Draw,
  counts: { answers: number; failed: number; unknown: number },
): Promise<void> {
  const isFaulty = draw(4) > 0;
  const directory = new FollowedDirectory(data, ledger);
  const double = await createDouble({ storage: directory });
  try {
    const projects: string[] = (await double.api("GET", "/projects")).body.projects.map(({ id }: any) => id);
    for (let step = 0; step < STEPS; step += 1) {
      if (isFaulty && draw(3) === 0) armFailure(draw);
      const before = ledger.state;
      const answers = await takeStep(double, projects, draw);
      counts.answers += answers.length;
      for (const answer of answers) if (answer.status >= 500) counts.failed += 1;
      counts.unknown += answers.filter(({ body }) => body.code === "OUTCOME_UNKNOWN").length;
      checkAnswers(answers, before, ledger.state);
      if (draw(3) === 0) control("heal");
      if (draw(8) === 0) await checkOutcome(double, ledger);
    }
    control("stop");
    cpSync(data, killed, { recursive: true });
    await checkDirectory(killed, ledger.state, "after a kill");
    await checkOutcome(double, ledger);
  } finally {
    control("heal");
    await double.close();
    directory.release();
  }
}

function armFailure(draw: Draw): void {
  const calls = CALLS[draw(CALLS.length)];
  const error = ERRORS[draw(ERRORS.length)];
  const count = draw(3) === 0 ? 1_000 : 1 + draw(4);
  control(`fail/${calls}/${error}/${draw(12)}/${count}/${draw(2)}`);
}

/** If nothing was changed, no event of the step may be committed; if something was, the answer says so. */
function checkAnswers(answers: readonly ApiResponse[], before: LedgerState, after: LedgerState): void {
  const failed = answers.filter(({ status }) => status >= 500);
  for (const { status, body } of failed)
    if (status !== 503) throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
  const isNewlyUnknown = before.open === undefined && after.open !== undefined;
  if (isNewlyUnknown && !failed.some(({ body }) => body.code === "OUTCOME_UNKNOWN"))
    throw new Error("the outcome of a commit is unknown, but no answer says so");
  const changed = lastOf(after.committed).seq > lastOf(before.committed).seq;
  const isRequestAlone = answers.length === 1 && failed.length === 1;
  if (isRequestAlone && changed && failed[0]?.body.message.endsWith("nothing was changed"))
    throw new Error(`events were committed, but the answer is: ${failed[0].body.message}`);
}

/** Once calls succeed again, the world is in the state that the answers stated. */
async function checkOutcome(double: Double, ledger: Ledger): Promise<void> {
  control("heal");
  const { committed } = ledger.state;
  const events = await double.world.events(0, Number.MAX_SAFE_INTEGER);
  expectEvents("the world in service", events.slice(0, committed.length), [committed]);
  const { body } = await double.sim("GET", "/invariants");
  if (body.ok !== true) throw new Error(`invariants: ${JSON.stringify(body)}`);
}

async function takeStep(double: Double, projects: string[], draw: Draw): Promise<ApiResponse[]> {
  const request = (): Promise<ApiResponse> => {
    const project = `/projects/${projects[draw(projects.length)]}`;
    switch (draw(9)) {
      case 0:
        return double.api("POST", "/projects", { project: { name: "x".repeat(1 + draw(2_000) / 10) } });
      case 1:
        return double.api("POST", `${project}/branches`, { branch: {}, endpoints: [{ type: "read_write" }] });
      case 2:
        return double.api("PATCH", project, { project: { name: `name ${draw(1_000)}` } });
      case 3:
        return double.api("POST", "/api_keys", { key_name: `key ${draw(1_000)}` });
      case 4:
        return double.sim("POST", "/clock/advance", { by: `${1 + draw(30)}m` });
      case 5:
        return double.sim("POST", "/clock/advance", { by: "10s" });
      case 6:
        return double.api("GET", `${project}/operations`);
      case 7:
        return draw(2) === 0
          ? double.sim("DELETE", "/requests")
          : double.sim("POST", "/compact", { keep: `${1 + draw(3)}h` });
      default:
        return double.api("GET", "/projects");
    }
  };
  const burst = draw(3) === 0 ? 2 + draw(4) : 1;
  const answers = await Promise.all(Array.from({ length: burst }, request));
  for (const { status, body } of answers) if (status === 201 && body.project) projects.push(body.project.id);
  return answers;
}

/** Checks the disks that power cuts at random moments may leave. */
async function cutPower(
  records: readonly DiskRecord[],
  disk: DiskModel,
  ledger: Ledger,
  image: string,
  draw: Draw,
): Promise<number> {
  const moments = new Set(Array.from({ length: POWER_CUTS }, () => draw(records.length)));
  const failures = [...records.entries()].filter(([, { kind }]) => kind === "failure");
  for (let cut = 0; cut < POWER_CUTS_AFTER_FAILURES && failures.length > 0; cut += 1)
    moments.add((failures[draw(failures.length)]?.[0] ?? 0) + 1 + draw(AFTERMATH));
  let marker = 0;
  for (const [index, record] of records.entries()) {
    if (moments.has(index) && marker > 0) {
      disk.writeAfterPowerCut(image);
      await checkDirectory(image, ledger.at(marker), `after a power cut at record ${index}`);
    }
    if (record.kind === "marker") marker = record.number;
    else disk.add(record);
  }
  return moments.size;
}

/** The world has everything that was acknowledged, and nothing that was not requested. */
async function checkDirectory(directory: string, state: LedgerState, what: string): Promise<void> {
  const path = join(directory, "worlds", "default.sqlite");
  try {
    const store = openStore(path, { migrationsFolder: MIGRATIONS_FOLDER, marksHead: true });
    const events = store.journal.events(0, Number.MAX_SAFE_INTEGER);
    store.close();
    const allowed = state.open === undefined ? [state.committed] : [state.committed, state.open];
    expectEvents(what, events, allowed);
    const { ok, differences } = await verify(path);
    if (!ok) throw new Error(`verify: ${JSON.stringify(differences.slice(0, 3))}`);
  } catch (error) {
    throw new Error(`${what}: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** Truncated histories are compared from their first event on. */
function expectEvents(
  what: string,
  events: readonly RecordedEvent[],
  allowed: readonly (readonly RecordedEvent[])[],
): void {
  const first = events[0]?.seq ?? Number.POSITIVE_INFINITY;
  const text = textOf(events);
  const isAllowed = allowed.some((some) => textOf(some.filter(({ seq }) => seq >= first)) === text);
  if (isAllowed) return;
  const heads = allowed.map((some) => lastOf(some).seq).join(" or ");
  throw new Error(`${what} ends at event ${lastOf(events).seq}; acknowledged or requested were ${heads}`);
}

/** The same for an event in memory and for the stored one. */
function textOf(events: readonly RecordedEvent[]): string {
  return JSON.stringify(
    events.map(({ seq, at, type, decision, ...rest }) => ({ seq, at, type, decision, ...rest })),
  );
}

function lastOf(events: readonly RecordedEvent[]): { readonly seq: number } {
  return events.at(-1) ?? { seq: 0 };
}

let template: Promise<string> | undefined;

/** The directory of a closed world with a project. */
function templateIn(scratch: string): Promise<string> {
  template ??= (async () => {
    const path = join(scratch, "template");
    mkdirSync(path, { recursive: true });
    const directory = new DataDirectory(path, MIGRATIONS_FOLDER);
    const double = await createDouble({ storage: directory, startAt: START });
    await double.api("POST", "/projects", { project: { name: "first" } });
    await double.advance("1m");
    await double.close();
    directory.release();
    return path;
  })();
  return template;
}

function control(command: string): void {
  try {
    openSync(`/standin-storage/${command}`, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function escaped(path: string): string {
  return path.replaceAll("/", "|");
}
