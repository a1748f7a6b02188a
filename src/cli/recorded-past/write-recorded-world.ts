import { resolve } from "node:path";
import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import type { WorldProfile } from "../../app/profile-file.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { SimTime } from "../../kernel/time.ts";
import { PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { type LimitSettings, PLANS, type PlanName } from "../../platform/catalog/plan.ts";
import type { WorldSettings } from "../../platform/model/world-settings.ts";
import { Simulation } from "../../simulation/simulation.ts";
import type { ClockState } from "../../simulation/world-clock.ts";
import type { Head } from "../../store/file/head-mark.ts";
import { openStore } from "../../store/file/open-world.ts";
import { type AccountReport, writeAccountReport } from "../../worlds/account-report.ts";
import type { DataDirectory } from "../../worlds/data-directory.ts";
import { openDataDirectory } from "../history/open-data-directory.ts";
import { wrapFileErrors } from "../history/world-database.ts";
import { CliError } from "../terminal/cli-error.ts";
import { type ProjectPast, readAccountPast } from "./account-past.ts";
import { RECORDED_ACCOUNT } from "./existence-facts.ts";
import { recordPast } from "./record-past.ts";
import type { PastOmission } from "./recorded-fact.ts";

export type RecordedWorldRequest = {
  /** File of `standin account pull`. */
  readonly file: string;
  readonly data: string;
  readonly world: string;
  readonly profile: WorldProfile;
  /** For the console. */
  readonly report: AccountReport;
  readonly seed: number;
  /** Wall-clock time, for the clock of the world. */
  readonly wallNow: number;
};

export type RecordedWorld = {
  readonly projects: number;
  readonly computes: number;
  readonly events: number;
  readonly startAt: SimTime;
  /** The last pull. From then on, the world follows its rules. */
  readonly now: SimTime;
  readonly omissions: readonly PastOmission[];
};

/** Called before a world is written into the data directory, and before its file gets its name. */
export type RecordedWorldPlace = {
  /** Throws if the world must not be written. */
  readonly checkName: (directory: DataDirectory, world: string) => void;
  /** Called with the end of the written file, before it gets its name. */
  readonly beforeMove?: (directory: DataDirectory, world: string, head: Head | undefined) => void;
};

/** Creates a world with the past that the file of an account shows. Its clock is manual and set to the last pull. */
export function writeRecordedWorld(
  request: RecordedWorldRequest,
  { checkName, beforeMove = () => undefined }: RecordedWorldPlace = { checkName: checkIsNew },
): RecordedWorld {
  const { projects, lastPullAt } = readAccountPast(request.file);
  const { data, world: name } = request;
  const directory = openDataDirectory(data);
  try {
    checkName(directory, name);
    let written: RecordedWorld | undefined;
    wrapFileErrors(resolve(data), () =>
      directory.importWorld(
        name,
        (path) => {
          written = writeWorld(path, projects, lastPullAt, request);
        },
        (head) => {
          beforeMove(directory, name, head);
          writeAccountReport(directory.path, name, request.report);
        },
      ),
    );
    if (written === undefined) throw new Error("importWorld wrote no world");
    return written;
  } finally {
    directory.release();
  }
}

function checkIsNew(directory: DataDirectory, world: string): void {
  if (directory.worlds().includes(world))
    throw new CliError(`${directory.path} already has a world "${world}"; choose another --world or --data`);
}

function writeWorld(
  path: string,
  projects: readonly ProjectPast[],
  lastPullAt: SimTime,
  { profile, seed, wallNow }: RecordedWorldRequest,
): RecordedWorld {
  const startAt = Math.min(lastPullAt, ...projects.map(({ existsFrom }) => existsFrom));
  const { journal, world, close } = openStore(path, { migrationsFolder: MIGRATIONS_FOLDER });
  try {
    const simulation = new Simulation(world, journal);
    const clockAt = (at: SimTime): ClockState => ({
      ...{ mode: "manual", factor: 0, simAnchor: at, wallAnchor: wallNow },
    });
    simulation.execute(
      { type: "CreateWorld", settings: settingsOf(projects, profile, seed, startAt) },
      startAt,
    );
    simulation.execute({ type: "CreateAccount", id: RECORDED_ACCOUNT, name: RECORDED_ACCOUNT }, startAt);
    const { defaultS } = PROFILES[profile.profile].suspendTimeout;
    const omissions = recordPast(simulation, projects, defaultS, (at) => simulation.commit(clockAt(at), at));
    simulation.commit(clockAt(lastPullAt), lastPullAt);
    return {
      ...{ projects: projects.length, computes: countComputes(projects), events: world.seq },
      ...{ startAt, now: lastPullAt, omissions },
    };
  } finally {
    close();
  }
}

function countComputes(projects: readonly ProjectPast[]): number {
  return projects.reduce((sum, { computes }) => sum + computes.length, 0);
}

function settingsOf(
  projects: readonly ProjectPast[],
  { profile, calibration, plan = "paid", planLimits }: WorldProfile,
  seed: number,
  startAt: SimTime,
): WorldSettings {
  const limits = { ...neededLimits(projects, plan), ...planLimits };
  return {
    ...{ seed, profile, plan, operations: "timed", durations: "varied", startAt },
    ...omitUndefined({ calibration, limits: Object.keys(limits).length === 0 ? undefined : limits }),
  } as WorldSettings;
}

/** The limits of the plan that the account exceeds, so that all of it fits. */
function neededLimits(projects: readonly ProjectPast[], plan: PlanName): LimitSettings {
  const { projectsLimit, branchesLimit, endpointsLimit } = PLANS[plan];
  const branches = Math.max(
    0,
    ...projects.map(({ computes }) => new Set(computes.map(({ branch }) => branch)).size + 1),
  );
  const endpoints = Math.max(0, ...projects.map(({ computes }) => computes.length));
  return {
    ...(projects.length > projectsLimit ? { projects: projects.length } : {}),
    ...(branches > branchesLimit ? { branches } : {}),
    ...(endpoints > endpointsLimit ? { endpoints } : {}),
  };
}
