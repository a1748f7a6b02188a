import { HOUR, SECOND } from "../../src/kernel/time.ts";
import type { Benchmark } from "../benchmark.ts";
import { type BenchEnvironment, MIGRATIONS } from "../environment/environment.ts";
import { createProject, listEndpoints, recordResponse } from "../environment/project-fixture.ts";
import { AUTHORIZATION, type Server, startCommand } from "../environment/servers.ts";
import { comparedFigure, type Figure, median, plainFigure, type Target } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import type { AdvanceTurnsMeasurement, AdvanceTurnsOptions } from "../processes/advance-turns.ts";
import { measureInRounds, pairs } from "../rounds.ts";

/** Each compute is started once in an hour of simulated time, and suspended five minutes later. */
const HOURS_PER_ADVANCE = 12;
const READS_PER_SECOND = 200;
const CONNECTIONS = 8;
const ACTIVITIES_PER_REQUEST = 1_000;
const LONGEST_WAIT_MS = 5;

type Latencies = { readonly p50Ms: number; readonly p99Ms: number };
type Measured = { readonly other: Latencies; readonly own: Latencies };

export const advancePause: Benchmark = {
  name: "advance",
  measures: "latency of reads of a world and of another one while it is advanced, compared with no advance",
  async run(environment, progress) {
    const server = await startCommand(environment, environment.directory(), { more: ["--clock", "manual"] });
    progress("creating the worlds");
    await control(server, "POST", "/worlds", { name: "other" }, 201);
    const computes: string[] = [];
    const count = environment.quick ? 200 : 2_000;
    let project = await createProject(server);
    for (let created = 0; created < count; created += 1) {
      project = await createProject(server);
      computes.push(project.endpointId);
    }
    const other: LoadRequest = { method: "GET", path: "/w/other/_sim/health", headers: {}, expected: 200 };
    const own = listEndpoints(project);
    const streams = Object.entries({ other, own }).map(([name, request]) => ({
      ...{ name, perSecond: READS_PER_SECOND, connections: CONNECTIONS, request },
    }));
    const read = async (durationMs: number): Promise<Measured> => {
      const [first, second] = await environment.runOpenLoop({ port: server.port, durationMs, streams });
      if (first === undefined || second === undefined)
        throw new Error("the load generator returned too few streams");
      return { other: first.latencies, own: second.latencies };
    };
    const durationMs = environment.quick ? 200 : 2_500;
    let elapsedMs = 0;
    const sides = {
      idle: () => read(durationMs),
      async advancing() {
        await scheduleStarts(server, computes);
        const startedAt = performance.now();
        const advance = control(server, "POST", "/clock/advance", { by: `${HOURS_PER_ADVANCE + 2}h` }, 200);
        const latencies = await read(durationMs);
        await advance;
        elapsedMs = performance.now() - startedAt;
        if (elapsedMs < durationMs) throw new Error(`the advance took only ${elapsedMs} ms`);
        return latencies;
      },
    };
    progress("warming up");
    await measureInRounds(1, sides, () => undefined);
    const rounds = await measureInRounds(environment.quick ? 1 : 5, sides, progress);
    await environment.stop(server.child);
    const figure = (name: string, of: (measured: Measured) => number, target?: Target) =>
      comparedFigure(name, "ms", "no advance", pairs(rounds, "advancing", "idle", of), target);
    return [
      figure("read p50 during an advance of another world", ({ other: { p50Ms } }) => p50Ms),
      figure("  read p99", ({ other: { p99Ms } }) => p99Ms),
      figure("read p50 during an advance of the same world", ({ own: { p50Ms } }) => p50Ms),
      figure("  read p99", ({ own: { p99Ms } }) => p99Ms, { of: "value", atMost: LONGEST_WAIT_MS }),
      plainFigure(`  advance by ${HOURS_PER_ADVANCE} hours of ${count} computes`, "ms", elapsedMs),
      ...(await turnFigures(environment, progress, count)),
    ];
  },
};

/** The same world in one process with its reads, so that the processor time of the thread can be measured. */
async function turnFigures(
  environment: BenchEnvironment,
  progress: (step: string) => void,
  computes: number,
): Promise<Figure[]> {
  progress("turns of the event loop during an advance");
  const options: AdvanceTurnsOptions = {
    data: environment.directory(),
    migrations: MIGRATIONS,
    computes,
    readsPerSecond: READS_PER_SECOND,
    apiKey: "bench".padEnd(64, "0"),
  };
  const child = await environment.start([environment.script("advance-turns"), JSON.stringify(options)]);
  const measured: AdvanceTurnsMeasurement[] = [];
  // The first one includes the compilation of its code.
  for (let round = 0; round < (environment.quick ? 2 : 4); round += 1)
    measured.push(await child.request<AdvanceTurnsMeasurement>("advance"));
  await environment.stop(child);
  const figure = (name: string, of: (one: AdvanceTurnsMeasurement) => number, atMost?: number) =>
    plainFigure(
      name,
      "ms",
      median(measured.slice(1).map(of)),
      ...(atMost === undefined ? [] : [{ of: "value" as const, atMost }]),
    );
  return [
    figure("longest turn during an advance with reads, processor time", ({ longestMs }) => longestMs),
    figure("  wait for the end of a turn, p50", ({ waitP50Ms }) => waitP50Ms),
    figure("  wait for the end of a turn, p99", ({ waitP99Ms }) => waitP99Ms, LONGEST_WAIT_MS),
    figure("  advance and its reads", ({ cpuMs }) => cpuMs),
  ];
}

async function scheduleStarts(server: Server, computes: readonly string[]): Promise<void> {
  const { now } = JSON.parse(await control(server, "GET", "/clock", undefined, 200)) as { now: string };
  for (let hour = 1; hour <= HOURS_PER_ADVANCE; hour += 1)
    for (let from = 0; from < computes.length; from += ACTIVITIES_PER_REQUEST) {
      const activities = computes.slice(from, from + ACTIVITIES_PER_REQUEST).map((id, index) => ({
        endpoint_id: id,
        at: new Date(Date.parse(now) + hour * HOUR + (from + index) * SECOND).toISOString(),
        duration_ms: 500,
      }));
      await control(server, "POST", "/activity", activities, 200);
    }
}

async function control(
  server: Server,
  method: "GET" | "POST",
  path: string,
  body: unknown,
  expected: number,
): Promise<string> {
  const request = { method, path: `/_sim${path}`, headers: AUTHORIZATION, body, expected };
  return (await recordResponse(server, request)).body;
}
