import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { HostClock } from "../../../src/simulation/host-clock.ts";
import { randomFrom } from "../../../src/simulation/random.ts";
import { parseClockSetting } from "../../../src/simulation/world-clock.ts";
import { openStore } from "../../../src/store/file/open-world.ts";
import { EVENTS_PER_BLOCK } from "../../../src/store/journal/stored-events.ts";
import { DataDirectory, type DataDirectoryOptions } from "../../../src/worlds/data-directory.ts";
import { createDouble, START } from "../double/double.ts";
import { scheduleActivities } from "../double/scheduled-activities.ts";
import { TestHost } from "../double/test-host.ts";
import { DiskModel, type DiskRecord, type Draw, readRecording } from "./disk-image.ts";
import { FollowedDirectory } from "./followed-directory.ts";
import { Ledger, type LedgerState, worldFile } from "./ledger.ts";
import { armFailure, control, startRecording } from "./shim-control.ts";
import { checkAnswers, checkDirectory, checkOutcome } from "./storm-checks.ts";
import { OLDER_WORLD, takeCopyStep, takeStep, worldOfStep } from "./storm-steps.ts";

/** Result of one seed. */
export type StormReport = {
  readonly seed: number;
  readonly answers: number;
  /** Answers with a 5xx status, and those of them whose outcome was unknown. */
  readonly failed: number;
  readonly unknown: number;
  readonly failures: number;
  readonly powerCuts: number;
  /** Snapshots that were taken or restored, and forks. */
  readonly copies: number;
};

type StormCounts = { -readonly [Name in "answers" | "failed" | "unknown" | "copies"]: number };

const STEPS = 24;
/** Power cuts at any moment, and shortly after a failed call. */
const POWER_CUTS = 2;
const POWER_CUTS_AFTER_FAILURES = 3;
/** Number of records after a failed call during which a power cut is most likely to find a bug. */
const AFTERMATH = 12;
/** Releases whose files are upgraded when they are opened. */
const OLDER_RELEASES = ["0.1.0", "0.2.0", "0.3.0"] as const;
const FIXTURES = join(import.meta.dirname, "../../replay/fixtures");

/** From this seed on, those near a block also make a long advance, whose commit takes several steps. */
const FIRST_SEED_WITH_LONG_ADVANCES = 100_000;

/** From this seed on, seeds take turns in the modes of the clock and of operations; before, all are the first. */
const FIRST_SEED_WITH_MODES = 1_000_000;
const MODES = (["manual", "real", "1000x"] as const).flatMap((clock) =>
  (["timed", "immediate"] as const).map((operations) => ({ clock, operations })),
);

/** From then on, some seeds move the log into the file after few frames, in the thread for that. */
const FRAMES_PER_CHECKPOINT = 12;

function hasCheckpoints(seed: number): boolean {
  return seed >= FIRST_SEED_WITH_MODES && seed % 5 < 2;
}

/** Independent of `isNearBlock` and `hasCopies`. */
function modeOf(seed: number): (typeof MODES)[number] {
  const turn = seed < FIRST_SEED_WITH_MODES ? 0 : Math.floor(seed / 12);
  return MODES[turn % MODES.length] as (typeof MODES)[number];
}

function isNearBlock(seed: number): boolean {
  return seed % 3 === 0;
}

/** Half of the seeds also take, restore and delete snapshots, forks, and a file of an older release. */
function hasCopies(seed: number): boolean {
  return seed % 4 === 1 || seed % 4 === 2;
}

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
  cpSync(await templateIn(scratch, isNearBlock(seed)), data, { recursive: true });
  const ledger = new Ledger(hasCopies(seed) ? addOlderWorld(data, scratch, draw) : new Map());
  const disk = new DiskModel(data, draw);
  startRecording(log, data);
  const counts = { answers: 0, failed: 0, unknown: 0, copies: 0 };
  try {
    await work({
      ...{ data, killed: join(scratch, "killed"), ledger, draw, counts, hasCopies: hasCopies(seed) },
      mode: modeOf(seed),
      options: hasCheckpoints(seed) ? { framesPerCheckpoint: FRAMES_PER_CHECKPOINT } : {},
      longAdvanceAt: seed >= FIRST_SEED_WITH_LONG_ADVANCES && isNearBlock(seed) ? draw(STEPS) : undefined,
    });
  } finally {
    control("stop");
  }
  const records = readRecording(log);
  const powerCuts = await cutPower(records, disk, ledger, join(scratch, "image"), draw);
  const failures = records.filter(({ kind }) => kind === "failure").length;
  return { seed, ...counts, failures, powerCuts };
}

type StormWork = {
  readonly data: string;
  readonly killed: string;
  readonly ledger: Ledger;
  readonly draw: Draw;
  readonly counts: StormCounts;
  readonly hasCopies: boolean;
  readonly mode: ReturnType<typeof modeOf>;
  readonly options: DataDirectoryOptions;
  /** The step that advances the world to the activities of its template. */
  readonly longAdvanceAt: number | undefined;
};

async function work({
  data,
  killed,
  ledger,
  draw,
  counts,
  hasCopies,
  mode,
  options,
  longAdvanceAt,
}: StormWork): Promise<void> {
  const isFaulty = draw(4) > 0;
  const directory = new FollowedDirectory(data, ledger, options);
  // On a running clock, work that is due commits by itself, beside the request of a step.
  const runs = mode.clock !== "manual";
  // Names of automatic snapshots contain the time of the host.
  const hostClock = runs ? tickingClock() : hasCopies ? new TestHost(START).clock : undefined;
  const double = await createDouble({
    storage: directory,
    clock: parseClockSetting(mode.clock),
    operations: mode.operations,
    ...(hostClock && { hostClock }),
  });
  try {
    const projects: string[] = (await double.api("GET", "/projects")).body.projects.map(({ id }) => id);
    for (let step = 0; step < STEPS; step += 1) {
      if (isFaulty && draw(3) === 0) armFailure(draw);
      const before = ledger.state;
      const isCopy = step !== longAdvanceAt && hasCopies && draw(3) === 0;
      const answers =
        step === longAdvanceAt
          ? [await double.sim("POST", "/clock/advance", { by: "366d" })]
          : isCopy
            ? [await takeCopyStep(double, ledger, draw)]
            : await takeStep(hasCopies ? worldOfStep(double, ledger, draw).double : double, projects, draw);
      counts.answers += answers.length;
      for (const answer of answers) if (answer.status >= 500) counts.failed += 1;
      counts.unknown += answers.filter(({ body }) => body.code === "OUTCOME_UNKNOWN").length;
      if (isCopy) counts.copies += answers.filter(({ status }) => status < 300).length;
      // Otherwise a request first executes what has become due, which is not its own change.
      const isAlone = !runs && mode.operations === "timed";
      if (isAlone) checkAnswers(answers, { before, after: ledger.state, eventsOnly: isCopy });
      if (draw(3) === 0) control("heal");
      if (draw(8) === 0) await checkOutcome(double, ledger);
    }
    control("stop");
    // Keeps hard links, unlike cpSync.
    execFileSync("cp", ["-a", data, killed]);
    await checkDirectory(killed, ledger.state, "after a kill");
    await checkOutcome(double, ledger);
  } finally {
    control("heal");
    await double.close();
    directory.release();
  }
}

/** A host whose clocks move on by a millisecond whenever one of them is read. */
function tickingClock(): HostClock {
  let ticks = 0;
  return new HostClock(
    () => START + ticks,
    () => {
      ticks += 1;
      return ticks;
    },
  );
}

/** Adds a world of an older release. Its events are those of its file after an upgrade. */
function addOlderWorld(data: string, scratch: string, draw: Draw): LedgerState {
  const release = OLDER_RELEASES[draw(OLDER_RELEASES.length)] as string;
  const upgraded = join(scratch, `${release}.sqlite`);
  const original = join(FIXTURES, release, "world.sqlite");
  copyFileSync(original, upgraded);
  const store = openStore(upgraded, { migrationsFolder: MIGRATIONS_FOLDER });
  const events = store.journal.events(0, Number.MAX_SAFE_INTEGER);
  store.close();
  copyFileSync(original, join(data, worldFile(OLDER_WORLD)));
  return new Map([[worldFile(OLDER_WORLD), [events]]]);
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

/** Number of events that the first block of events lacks before the steps, so that the steps write it. */
const EVENTS_BEFORE_BLOCK = 20;
const templates = new Map<boolean, Promise<string>>();

/** The directory of a closed world with a project, and maybe with nearly as many events as make a block. */
function templateIn(scratch: string, isNearBlock: boolean): Promise<string> {
  const made =
    templates.get(isNearBlock) ?? createTemplate(join(scratch, `template-${isNearBlock}`), isNearBlock);
  templates.set(isNearBlock, made);
  return made;
}

async function createTemplate(path: string, isNearBlock: boolean): Promise<string> {
  mkdirSync(path, { recursive: true });
  const directory = new DataDirectory(path, MIGRATIONS_FOLDER);
  const double = await createDouble({ storage: directory, startAt: START });
  await double.api("POST", "/projects", { project: { name: "first" } });
  await double.advance("1m");
  if (isNearBlock) await scheduleActivities(double, EVENTS_PER_BLOCK - EVENTS_BEFORE_BLOCK);
  await double.close();
  directory.release();
  return path;
}
