import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Progress } from "../benchmark.ts";
import { type CommandRun, runCommand, runNode } from "../environment/command-run.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import { installedPeers, type Peer, STANDIN, startPeer } from "../environment/peers.ts";
import { comparedFigure, type Figure } from "../figure.ts";
import type { WhatifTraceOptions } from "../processes/whatif-trace.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const CONNECTIONS = 16;
const WARM_UP = 1_000;
// emulate answers at most 5,000 requests an hour.
const REQUESTS = 3_000;
const MAP = ["--map", "endpoint=endpoint_id,at=at,duration=duration_ms"];
const LATENCY = ["--start-latency", "3s", "--json", "--workers", "1"];
const MEAN_MS = 86_400;
const MIB = 2 ** 20;

export const peers: Benchmark = {
  name: "peers",
  measures: "the same work by DuckDB, and by other servers that stand in for APIs (emulate, Prism)",
  async run(environment, progress) {
    return [...(await requestFiles(environment, progress)), ...(await servers(environment, progress))];
  },
};

/** Whole processes on one thread, in processor time. */
async function requestFiles(environment: BenchEnvironment, progress: Progress): Promise<Figure[]> {
  const directory = environment.directory();
  const file = (name: string) => join(directory, name);
  const [csv, parquet] = [file("requests.csv"), file("requests.parquet")];
  const shape = { computes: 1_000, requestsEach: environment.quick ? 300 : 3_000, meanMs: MEAN_MS };
  const requests = shape.computes * shape.requestsEach;
  const amount = requests.toLocaleString("en");
  progress(`writing ${amount} requests`);
  const options: WhatifTraceOptions = { ...shape, path: csv };
  await environment.stop(
    await environment.start([environment.script("whatif-trace"), JSON.stringify(options)], {
      hasChannel: false,
    }),
  );
  const standin = async (...args: string[]) => runCommand(environment, ["whatif", ...args]);
  const duckdb = async (statement: string) =>
    runNode(environment, [environment.script("duckdb"), JSON.stringify({ statement })]);
  const copy = (from: string, to: string) => `COPY (SELECT * FROM '${from}') TO '${to}' (FORMAT parquet)`;
  await duckdb(copy(csv, parquet));
  const importFile = (path: string) => async () => {
    const out = file("requests.standin-trace");
    rmSync(out, { force: true });
    return standin("import", path, "--out", out);
  };
  const sql = await standin("sql", "--dialect", "duckdb", "--table", `'${parquet}'`, ...MAP);
  const rounds = await measureInRounds(
    environment.quick ? 1 : 5,
    {
      csv: importFile(csv),
      csvDuckdb: () => duckdb(copy(csv, file("copy.parquet"))),
      parquet: importFile(parquet),
      parquetDuckdb: () => duckdb(copy(parquet, file("copy.parquet"))),
      curve: () => standin("curve", parquet, ...LATENCY),
      gapsDuckdb: () => duckdb(sql.output),
    },
    progress,
  );
  rmSync(directory, { recursive: true });
  const rate = ({ processorS }: CommandRun) => requests / processorS;
  const atLeastHalf = { of: "ratio", atLeast: 0.5 } as const;
  return [
    comparedFigure(
      `import of ${amount} requests, CSV`,
      "requests/s",
      "DuckDB, CSV to Parquet",
      pairs(rounds, "csv", "csvDuckdb", rate),
      atLeastHalf,
    ),
    comparedFigure(
      "the same, Parquet",
      "requests/s",
      "DuckDB, Parquet to Parquet",
      pairs(rounds, "parquet", "parquetDuckdb", rate),
    ),
    comparedFigure(
      "whatif curve, Parquet",
      "requests/s",
      "DuckDB, histogram of gaps",
      pairs(rounds, "curve", "gapsDuckdb", rate),
    ),
  ];
}

async function servers(environment: BenchEnvironment, progress: Progress): Promise<Figure[]> {
  const others = installedPeers((hint) => progress(`not all peers found, comparison skipped (${hint})`));
  if (others.length === 0) return [];
  const sides = Object.fromEntries(
    [STANDIN, ...others].map((peer) => [peer.name, () => measure(environment, peer)]),
  );
  const rounds = await measureInRounds(environment.quick ? 1 : 5, sides, progress);
  return others.flatMap(({ name }) => [
    comparedFigure(
      "first response after process start",
      "ms",
      name,
      pairs(rounds, STANDIN.name, name, (run) => run.firstResponseMs),
    ),
    comparedFigure(
      "RSS after it",
      "MiB",
      name,
      pairs(rounds, STANDIN.name, name, (run) => run.residentBytes / MIB),
    ),
    comparedFigure(
      "list of 20 objects",
      "/s",
      name,
      pairs(rounds, STANDIN.name, name, (run) => run.perSecond),
    ),
  ]);
}

async function measure(environment: BenchEnvironment, peer: Peer) {
  const server = await startPeer(peer, environment.directory());
  try {
    const load = (total: number) =>
      environment.runClosedLoop({
        port: server.port,
        connections: CONNECTIONS,
        total,
        requests: [server.list],
      });
    await load(WARM_UP);
    const { elapsedMs } = await load(REQUESTS);
    const { firstResponseMs, residentBytes } = server;
    return { firstResponseMs, residentBytes, perSecond: REQUESTS / (elapsedMs / 1_000) };
  } finally {
    await server.stop();
  }
}
