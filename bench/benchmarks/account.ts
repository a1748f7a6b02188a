import { rmSync } from "node:fs";
import { join } from "node:path";
import { CALLS_AT_ONCE } from "../../src/account/pull.ts";
import { DAY, HOUR, MINUTE } from "../../src/kernel/time.ts";
import { writeLargeAccount } from "../account/large-account.ts";
import { fleetsOutside } from "../account/random-fleets.ts";
import { shortGapError } from "../account/short-gap-error.ts";
import type { Benchmark, Progress } from "../benchmark.ts";
import { TRAFFIC_KINDS } from "../decisions/traffic-kinds.ts";
import { runCommand, runNode } from "../environment/command-run.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { createProject, recordResponse } from "../environment/project-fixture.ts";
import { AUTHORIZATION, type Server, startCommand } from "../environment/servers.ts";
import { comparedFigure, type Figure, median, plainFigure } from "../figure.ts";
import type { BarePages } from "../processes/bare-pages.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const MIB = 2 ** 20;
const SHORTER_S = [60, 120];
const FLEETS_PER_KIND = 5;
const STARTED_AT = "2026-01-05T00:00:00Z";
const ACTIVITIES_PER_REQUEST = 1_000;
/** A start and a suspend every quarter of an hour. */
const BETWEEN_STARTS = 15 * MINUTE;

export const account: Benchmark = {
  name: "account",
  measures: "what-if from the operations of an account: speed, calls, bounds, error of the estimate",
  async run(environment, progress) {
    const { quick } = environment;
    progress("bounds of random fleets");
    const fleets = quick ? 200 : 10_000;
    const { outside, differences } = fleetsOutside(fleets);
    const none = { of: "value", atMost: 0 } as const;
    return [
      ...largeFile(environment, progress),
      ...(await pulls(environment, progress)),
      plainFigure(`truth outside the bounds, ${fleets} random fleets`, "figures", outside, none),
      plainFigure("  of delays at or above the one in force", "figures", differences, none),
      ...SHORTER_S.flatMap((shorterS) => errorFigures(shorterS, quick ? 2 : FLEETS_PER_KIND)),
    ];
  },
};

function largeFile(environment: BenchEnvironment, progress: Progress): Figure[] {
  const [computes, periodsEach] = environment.quick ? [100, 100] : [1_000, 1_000];
  const path = join(environment.directory(), "large.standin-account");
  progress("writing the file of an account");
  writeLargeAccount(path, computes, periodsEach);
  const runs = Array.from({ length: environment.quick ? 1 : 5 }, () =>
    runCommand(environment, ["whatif", "curve", path, "--json"]),
  );
  rmSync(path);
  const name = `curve of ${computes} computes, ${(2 * computes * periodsEach) / 1_000_000} million operations`;
  return [
    plainFigure(name, "s", median(runs.map(({ processorS }) => processorS)), { of: "value", atMost: 2 }),
    plainFigure("  memory", "MiB", median(runs.map(({ peakBytes }) => peakBytes / MIB)), {
      ...{ of: "value", atMost: 300 },
    }),
  ];
}

/**
 * The processor of the machine is shared with the server, so a pull is measured by its elapsed time. Both sides are
 * processes of their own that make the same calls; their start, until the first call, is not a matter of the pages.
 */
async function pulls(environment: BenchEnvironment, progress: Progress): Promise<Figure[]> {
  const [projects, days] = environment.quick ? [4, 2] : [40, 20];
  progress(`simulating ${projects} computes for ${days} days`);
  const server = await startCommand(environment, environment.directory(), {
    more: ["--clock", "manual", "--start-at", STARTED_AT],
  });
  await useProjects(server, projects, days);
  const directory = environment.directory();
  let files = 0;
  const pull = (file: string) =>
    runCommand(
      environment,
      ["account", "pull", "--from", `http://127.0.0.1:${server.port}/api/v2`, "--out", file, "--json"],
      { STANDIN_FROM_KEY: AUTHORIZATION.Authorization.replace("Bearer ", "") },
    );
  const nextFile = () => {
    files += 1;
    return join(directory, `${files}.standin-account`);
  };
  const first = pull(nextFile());
  const { operations } = JSON.parse(first.output) as { operations: number };
  const pages: BarePages = { urls: first.urls, headers: AUTHORIZATION, callsAtOnce: CALLS_AT_ONCE };
  const sides = {
    pull: async () => pull(nextFile()),
    bare: async () => runNode(environment, [environment.script("bare-pages"), JSON.stringify(pages)]),
  };
  const rounds = await measureInRounds(environment.quick ? 3 : 5, sides, progress);
  for (const { pull: own, bare } of rounds)
    if (own.urls.length !== bare.urls.length)
      throw new Error(`the pull made ${own.urls.length} calls, the bare fetch ${bare.urls.length}`);
  const again = JSON.parse(pull(join(directory, "1.standin-account")).output) as { calls: number };
  await environment.stop(server.child);
  return [
    comparedFigure(
      `pull of ${operations} operations of ${projects} projects, from the first call to the exit`,
      ...(["s", "bare fetch of the same pages"] as const),
      pairs(rounds, "pull", "bare", ({ callingS }) => callingS),
      { of: "ratio", atMost: 1.5 },
    ),
    comparedFigure(
      "  start, until the first call",
      ...(["s", "node"] as const),
      pairs(rounds, "pull", "bare", ({ wallS, callingS }) => wallS - callingS),
    ),
    comparedFigure(
      "  both together",
      ...(["s", "node, bare fetch"] as const),
      pairs(rounds, "pull", "bare", ({ wallS }) => wallS),
    ),
    plainFigure("  calls of a second pull without news, per project", "", again.calls / projects, {
      ...{ of: "value", atMost: 2 + CALLS_OF_ACCOUNT / projects },
    }),
  ];
}

/** Calls of a pull that are not about one project: who the key is of, projects, organizations, consumption. */
const CALLS_OF_ACCOUNT = 6;

async function useProjects(server: Server, count: number, days: number): Promise<void> {
  const created = [];
  for (let project = 0; project < count; project += 1) created.push(await createProject(server));
  const begin = Date.parse(STARTED_AT) + HOUR;
  for (let day = 0; day < days; day += 1) {
    const items = created.flatMap(({ endpointId: endpoint_id }) =>
      Array.from({ length: DAY / BETWEEN_STARTS }, (_, index) => ({
        ...{ endpoint_id, duration_ms: 500 },
        at: new Date(begin + day * DAY + index * BETWEEN_STARTS).toISOString(),
      })),
    );
    for (let from = 0; from < items.length; from += ACTIVITIES_PER_REQUEST)
      await control(server, "/activity", items.slice(from, from + ACTIVITIES_PER_REQUEST));
    await control(server, "/clock/advance", { by: "24h" });
  }
}

async function control(server: Server, path: string, body: unknown): Promise<void> {
  await recordResponse(server, {
    ...{ method: "POST", path: `/_sim${path}`, headers: AUTHORIZATION, body, expected: 200 },
  });
}

/** Mean error of the estimate for each kind of traffic. */
function errorFigures(shorterS: number, fleets: number): Figure[] {
  return TRAFFIC_KINDS.flatMap((kind) => {
    const { activePercent, coldPercent } = shortGapError(kind, fleets, shorterS);
    return [
      plainFigure(
        `${kind.name}: estimate of ${shorterS} s instead of 300 s, active time`,
        "%",
        activePercent,
      ),
      plainFigure("  cold starts", "%", coldPercent),
    ];
  });
}
