import { performance } from "node:perf_hooks";
import pg from "pg";
import type { BenchEnvironment } from "../environment/environment.ts";
import type { Compute, PostgresServer } from "../environment/postgres-server.ts";
import { AUTHORIZATION } from "../environment/servers.ts";
import { comparedFigure, type Figure } from "../figure.ts";
import { runClosedLoop } from "../load/closed-loop.ts";
import type { LoadRequest } from "../load/request.ts";
import { measureInRounds, pairs } from "../rounds.ts";

const QUERY = "select 1";

/** One client that sends the next request after the response, with an HTTP connection that stays open. */
async function requestMs(server: PostgresServer, request: LoadRequest, total: number): Promise<number> {
  const port = Number(new URL(server.apiUrl).port);
  const { elapsedMs } = await runClosedLoop({ port, connections: 1, total, requests: [request] });
  return elapsedMs / total;
}

async function queryMs(client: pg.Client, total: number): Promise<number> {
  const began = performance.now();
  for (let count = 0; count < total; count += 1) await client.query(QUERY);
  return (performance.now() - began) / total;
}

export async function sqlOverHttpFigures(
  environment: BenchEnvironment,
  server: PostgresServer,
  { uri }: Compute,
  progress: (step: string) => void,
): Promise<Figure[]> {
  const total = environment.quick ? 100 : 2_000;
  const sql = {
    method: "POST",
    path: "/sql",
    headers: { "Neon-Connection-String": uri },
    body: { query: QUERY, params: [] },
    expected: 200,
  };
  const read = { method: "GET", path: "/api/v2/users/me", headers: AUTHORIZATION, expected: 200 };
  const client = new pg.Client(uri);
  await client.connect();
  const rounds = await measureInRounds(
    environment.quick ? 1 : 7,
    {
      sql: () => requestMs(server, sql, total),
      read: () => requestMs(server, read, total),
      pg: () => queryMs(client, total),
    },
    (step) => progress(`POST /sql, ${step}`),
  );
  await client.end();
  const rates = (own: "sql" | "read", baseline: "read" | "pg") =>
    pairs(rounds, own, baseline, (milliseconds) => 1_000 / milliseconds);
  return [
    comparedFigure("POST /sql, select 1, one client", "/s", "pg, one session", rates("sql", "pg"), {
      of: "ratio",
      atLeast: 0.5,
    }),
    comparedFigure("  the same", "/s", "GET users/me", rates("sql", "read")),
    comparedFigure("GET users/me, one client", "/s", "pg, one session", rates("read", "pg")),
  ];
}
