import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { startTlsPostgres } from "../environment/bare-postgres.ts";
import type { BenchEnvironment } from "../environment/environment.ts";
import type { Compute, PostgresServer, RunningEngine } from "../environment/postgres-server.ts";
import { comparedFigure, type Figure } from "../figure.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const run = promisify(execFile);

const CLIENTS = 8;
const SUPERUSER = "cloud_admin";
/** Length of a clock tick in `/proc`. */
const TICK_MS = 10;

export async function fillTables(uri: string): Promise<void> {
  await run("pgbench", ["-i", "-s", "10", "-q", uri]);
}

/** Transactions per second. */
export async function pgbench(
  target: readonly string[],
  seconds: number,
  more: readonly string[] = [],
): Promise<number> {
  const mode = ["-n", "-S", "-M", "prepared", "-c", String(CLIENTS), "-j", "2", "-T", String(seconds)];
  const { stdout } = await run("pgbench", [...mode, ...more, ...target]);
  return Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1]);
}

/** The options of `pgbench` for a connection to Postgres without the server. */
export function directTo({ sockets }: RunningEngine): string[] {
  return ["-h", sockets, "-p", "5432", "-U", SUPERUSER, "neondb"];
}

type Measured = { readonly perSecond: number; readonly cpuUs: number };

export async function queryFigures(
  environment: BenchEnvironment,
  server: PostgresServer,
  { uri }: Compute,
  engine: RunningEngine,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const seconds = environment.quick ? 1 : 5;
  const direct = directTo(engine);
  const withTls = [uri.replace("sslmode=disable", "sslmode=require")];
  progress("filling the tables of a Postgres with TLS");
  const tlsPostgres = await startTlsPostgres(join(environment.directory(), "postgres"));
  await fillTables(tlsPostgres.uri);
  const pipe = await environment.start<{ port: number }>([
    environment.script("bare-pipe"),
    join(engine.sockets, ".s.PGSQL.5432"),
  ]);
  const throughPipe = ["-h", "127.0.0.1", "-p", String(pipe.ready.port), "-U", SUPERUSER, "neondb"];
  const measured = async (target: readonly string[], pid: number): Promise<Measured> => {
    const before = cpuMs(pid);
    const perSecond = await pgbench(target, seconds);
    return { perSecond, cpuUs: ((cpuMs(pid) - before) * 1_000) / (perSecond * seconds) };
  };
  const rate = async (target: readonly string[], more: readonly string[] = []): Promise<Measured> => ({
    perSecond: await pgbench(target, seconds, more),
    cpuUs: Number.NaN,
  });
  progress("warming up");
  for (const target of [[uri], throughPipe]) await pgbench(target, seconds);
  for (const target of [withTls, [tlsPostgres.uri]]) await pgbench(target, seconds, ["-C"]);
  const rounds = await measureInRounds(
    environment.quick ? 1 : 3,
    {
      direct: () => rate(direct),
      plain: () => measured([uri], server.pid),
      pipe: () => measured(throughPipe, pipe.process.pid ?? 0),
      tls: () => measured(withTls, server.pid),
      directConnects: () => rate([tlsPostgres.uri], ["-C"]),
      tlsConnects: () => rate(withTls, ["-C"]),
    },
    (step) => progress(`pgbench, ${step}`),
  );
  await environment.stop(pipe);
  await tlsPostgres.close();
  const perSecond = ({ perSecond }: Measured) => perSecond;
  const cpuUs = ({ cpuUs }: Measured) => cpuUs;
  const connectMs = ({ perSecond }: Measured) => 1_000 / perSecond;
  return [
    comparedFigure(
      "pgbench -S -M prepared -c 8",
      "/s",
      "direct, over a Unix socket",
      pairs(rounds, "plain", "direct", perSecond),
      { of: "ratio", atLeast: 0.5 },
    ),
    comparedFigure("  the same", "/s", "bare Node pipe", pairs(rounds, "plain", "pipe", perSecond)),
    comparedFigure(
      "  processor time of the server per query",
      "µs",
      "bare Node pipe",
      pairs(rounds, "plain", "pipe", cpuUs),
    ),
    comparedFigure("  with TLS", "/s", "direct, without TLS", pairs(rounds, "tls", "direct", perSecond), {
      of: "ratio",
      atLeast: 0.35,
    }),
    comparedFigure(
      "time per connection with TLS and SCRAM, 8 at a time, one query each",
      "ms",
      "direct, with both",
      pairs(rounds, "tlsConnects", "directConnects", connectMs),
      { of: "ratio", atMost: 1.5 },
    ),
  ];
}

/** Processor time of a process without its children. */
function cpuMs(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
