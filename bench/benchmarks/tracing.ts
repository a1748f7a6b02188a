import type { Benchmark } from "../benchmark.ts";
import { CREATE_API_KEY, createProjectFixture, listEndpoints } from "../environment/project-fixture.ts";
import { type Server, startBare, startCommand } from "../environment/servers.ts";
import { comparedFigure, type Figure } from "../figure.ts";
import type { LoadRequest } from "../load/request.ts";
import { measureInRounds, pairs } from "../rounds.ts";
import { throughput } from "./throughput.ts";

/** Sampling of the traces; `undefined`: no traces. A second server without shows how much processes differ. */
const SIDES = { off: undefined, offAgain: undefined, some: "0.01", all: "1" } as const;
type Side = keyof typeof SIDES;

export const tracing: Benchmark = {
  name: "tracing",
  measures: "server CPU time of requests with OpenTelemetry traces of all or 1 % of them, compared with none",
  async run(environment, progress) {
    const collector = await startBare(environment, { status: 200, headers: {}, body: "" });
    const servers = {} as Record<Side, Server>;
    const reads = {} as Record<Side, LoadRequest>;
    for (const [side, ratio] of Object.entries(SIDES) as [Side, string | undefined][]) {
      const env: Record<string, string> =
        ratio === undefined
          ? {}
          : {
              OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.port}`,
              OTEL_TRACES_SAMPLER: "traceidratio",
              OTEL_TRACES_SAMPLER_ARG: ratio,
            };
      const server = await startCommand(environment, environment.directory(), { env });
      servers[side] = server;
      reads[side] = listEndpoints(await createProjectFixture(server));
    }
    const total = environment.quick ? 2_000 : 15_000;
    const measure = async (name: string, requestOf: (side: Side) => LoadRequest): Promise<Figure[]> => {
      progress(name);
      const run = (side: Side) => () => throughput(environment, servers[side], requestOf(side), total);
      const sides = { off: run("off"), offAgain: run("offAgain"), some: run("some"), all: run("all") };
      await measureInRounds(1, sides, () => undefined);
      const rounds = await measureInRounds(environment.quick ? 2 : 9, sides, progress);
      const compared = (what: string, side: Side) =>
        comparedFigure(
          `${name}, ${what}: server CPU time`,
          "us",
          "no traces",
          pairs(rounds, side, "off", ({ cpuUsPerRequest }) => cpuUsPerRequest),
        );
      return [
        compared("no traces in another process", "offAgain"),
        compared("traces of 1 %", "some"),
        compared("traces of all", "all"),
      ];
    };
    const figures = [
      ...(await measure("GET endpoints", (side) => reads[side])),
      ...(await measure("durable POST api_keys", () => CREATE_API_KEY)),
    ];
    for (const { child } of [...Object.values(servers), collector]) await environment.stop(child);
    return figures;
  },
};
