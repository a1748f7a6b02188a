import { join } from "node:path";
import type { Database } from "better-sqlite3";
import { expect, test } from "vitest";
import { openAccountFile } from "../../../src/account/account-file.ts";
import { AccountWriter } from "../../../src/account/account-writer.ts";
import { CALLS_AT_ONCE, pullAccount } from "../../../src/account/pull.ts";
import type { PublicResponse, ServerApi } from "../../../src/ports/server-api.ts";
import { testDirectory } from "../../support/server/running-server.ts";

const NOW = Date.parse("2026-01-06T00:00:00Z");
const CREATED = { created_at: "2026-01-05T00:00:00Z" };

/** A server with a number of projects, each with one compute and one page of operations. Records the calls. */
class FixedServer implements ServerApi {
  readonly url = "http://127.0.0.1/api/v2";
  readonly paths: string[] = [];
  atOnce = 0;
  #open = 0;
  readonly #projects: number;
  readonly #operationsEach: number;

  constructor(projects: number, operationsEach: number) {
    this.#projects = projects;
    this.#operationsEach = operationsEach;
  }

  async get(path: string): Promise<PublicResponse> {
    this.paths.push(path);
    this.#open += 1;
    this.atOnce = Math.max(this.atOnce, this.#open);
    await new Promise(setImmediate);
    this.#open -= 1;
    const body = this.#bodyOf(path);
    return { status: body === undefined ? 403 : 200, body, serverTime: NOW };
  }

  getWithoutKey(): never {
    throw new Error("a pull has a key");
  }

  call(): never {
    throw new Error("a pull only reads");
  }

  pause(): never {
    throw new Error("no answer is a 429");
  }

  sanitize(text: string): string {
    return text;
  }

  #bodyOf(path: string): unknown {
    if (path.startsWith("/projects?")) {
      const projects = Array.from({ length: this.#projects }, (_, index) => ({
        ...{ id: `p${index}`, name: `p${index}`, ...CREATED },
      }));
      return { projects };
    }
    const project = /^\/projects\/(\w+)\//.exec(path)?.[1];
    if (project === undefined) return undefined;
    if (path.endsWith("/endpoints")) return { endpoints: [endpointOf(project)] };
    return { operations: operationsOf(project, this.#operationsEach) };
  }
}

function endpointOf(project: string) {
  const sizes = { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1 };
  const settings = { ...sizes, suspend_timeout_seconds: 0 };
  return { id: `ep-${project}`, branch_id: `br-${project}`, type: "read_write", ...settings, ...CREATED };
}

function operationsOf(project: string, count: number) {
  return Array.from({ length: count }, (_, index) => ({
    ...{
      id: `${project}-${index}`,
      endpoint_id: `ep-${project}`,
      action: "start_compute",
      status: "finished",
    },
    ...{ failures_count: 0, total_duration_ms: 300, ...CREATED },
  }));
}

/** What a pull of a new file did: its report, and the statements that were compiled for it. */
async function pull(server: ServerApi) {
  const database = openAccountFile(join(testDirectory(), "a.standin-account"), "create");
  try {
    const compiled: string[] = [];
    const counting = new Proxy(database, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (name === "prepare") compiled.push(String(args[0]));
          return value.apply(target, args) as unknown;
        };
      },
    }) as Database;
    const report = await pullAccount(
      ...([server, new AccountWriter(counting, false), {}, () => undefined, async () => undefined] as const),
    );
    const stored = database.prepare("SELECT count(*) FROM operations").pluck().get();
    return { report, compiled, stored };
  } finally {
    database.close();
  }
}

test("a pull reads no page twice, and makes as many calls at once as it may", async () => {
  const server = new FixedServer(9, 3);
  const { report, stored } = await pull(server);
  expect(new Set(server.paths).size).toBe(server.paths.length);
  // The list of projects, the plan, and two kinds of consumption, beside two calls for each project.
  expect(report).toMatchObject({ projects: 9, operations: 27, calls: 4 + 2 * 9 });
  expect(server.atOnce).toBe(CALLS_AT_ONCE);
  expect(stored).toBe(27);
});

test("what the key may not read is noted in the same order, whichever answer comes first", async () => {
  for (const projects of [0, 1, 9])
    expect((await pull(new FixedServer(projects, 1))).report.notes).toEqual([
      "no plan: the server answered GET /users/me with status 403",
      ...(projects === 0 ? [] : ["hourly", "daily"]).map(
        (granularity) => `no ${granularity} consumption: the server answered with status 403`,
      ),
    ]);
});

test("a statement is compiled once, however many operations are written", async () => {
  const { compiled } = await pull(new FixedServer(3, 200));
  expect(compiled).toEqual([...new Set(compiled)]);
});
