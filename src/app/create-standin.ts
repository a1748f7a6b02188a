import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import * as z from "zod";
import { clockInstant } from "../control/http/control-fields.ts";
import { parsedText } from "../http/fields.ts";
import { SECRET_PATTERN, SECRET_RULE } from "../platform/account/api-key.ts";
import { DISTRIBUTION_RULE, parseDistribution } from "../platform/core/distribution.ts";
import { HOST_DOMAIN_PATTERN, HOST_DOMAIN_RULE } from "../platform/core/hosts.ts";
import { CLOCK_RULE, parseClockSetting } from "../simulation/world-clock.ts";
import { DataDirectory, DEFAULT_WORLD, DirectoryInUse } from "../worlds/data-directory.ts";
import {
  createApp,
  MIGRATIONS_FOLDER,
  memoryStorage,
  openWorlds,
  type ServerOptions,
  WorldMismatch,
} from "./compose.ts";

/** What is asked of a stand-in. What is left out makes the same world every time. */
export type StandinOptions = {
  /** Decides every id and every duration. 1 where a world is made. */
  readonly seed?: number;
  /** `manual`, `real`, or a factor like `60x`. Manual where a world is made. */
  readonly clock?: string;
  /** Where the clock begins: ISO 8601. 2026-01-01T00:00:00Z where a world is made. */
  readonly startAt?: string;
  /** The platform's numbers of this year. */
  readonly profile?: "2024" | "2026";
  /** Plan of accounts that are created without one. */
  readonly plan?: "paid" | "free";
  /** Whether operations take their time. */
  readonly operations?: "timed" | "immediate";
  /** How long a start takes: `3s`, `1s..5s` or `3s~0.5`; of a world that has such a delay, `profile` makes it the profile's again. */
  readonly startDelay?: string;
  /** In the place of the limits of the plan: projects of an account, and the others of a project; `plan` makes one the plan's again. */
  readonly limits?: {
    readonly projects?: number | "plan";
    readonly branches?: number | "plan";
    readonly endpoints?: number | "plan";
    readonly snapshots?: number | "plan";
  };
  /** What the host names of computes end in. */
  readonly hostDomain?: string;
  /** A key that is valid from the start; without it, one is made. */
  readonly apiKey?: string;
  /** Answer 429 beyond the platform's limits. */
  readonly rateLimit?: boolean;
  /** A directory for the worlds' files; without it, they end with the process. */
  readonly data?: string;
  /** A port of 127.0.0.1, 0 for a free one; `false` for no socket at all, only `fetch`. 0 where it is left out. */
  readonly port?: number | false;
};

/** A point in history: an ISO 8601 instant, or the sequence number of an event. */
export type HistoryPoint = string | number;

export type StandinEvent = {
  readonly seq: number;
  /** The instant at which it happened, ISO 8601. */
  readonly at: string;
  readonly type: string;
  /** Sequence number of the first event of the same decision. */
  readonly decision: number;
  readonly [property: string]: unknown;
};

/** What a client does to a compute; see docs/control-api.md. */
export type StandinActivity = {
  readonly endpoint_id: string;
  readonly at?: string;
  readonly kind?: "query" | "transaction" | "connect" | "disconnect";
  readonly duration_ms?: number;
  readonly queries?: number;
  readonly connection_id?: string;
  readonly database?: string;
  readonly pooled?: boolean;
  readonly source?: string;
  readonly load?: number;
  readonly blocks?: { readonly hits?: number; readonly misses?: number; readonly writes?: number };
};

export type ActivityOutcome = {
  readonly endpoint_id: string;
  readonly outcome: "served" | "waits" | "scheduled" | "refused";
  readonly woke?: boolean;
  readonly waited_ms?: number;
  readonly connection_id?: string;
  /** Why it was refused. */
  readonly code?: string;
  readonly message?: string;
};

export type StandinSnapshot = {
  readonly name: string;
  readonly now: string;
  readonly seq: number;
  readonly history_id: string;
};

export type ForkOptions = {
  readonly name?: string;
  /** Where it leaves its origin's history, included; the head where it is left out. */
  readonly at?: HistoryPoint;
  readonly clock?: string;
  /** What it draws by from then on. */
  readonly seed?: number;
};

export type Invariants = {
  readonly ok: boolean;
  readonly checked: number;
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
};

export type Explanation = {
  readonly at: string;
  /** The whole answer, in words. */
  readonly summary: string;
  readonly reasons: readonly {
    readonly about: string;
    readonly text: string;
    readonly events: readonly number[];
  }[];
  readonly events: readonly StandinEvent[];
};

/** A world of this process, as a test holds it. Whatever is refused rejects with a `StandinError`. */
export interface Standin {
  /** Base URL of the imitated API, for clients. Without a socket, `fetch` alone understands it. */
  readonly url: string;
  /** Base URL of the control API. */
  readonly controlUrl: string;
  /** A key of the first account. */
  readonly apiKey: string;
  /** As the global one, but in this process; a path is one of this server, and a call without a key gets the first one. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** Moves the clock on: for a while like `5m`, to an instant, or to the next due work. Gives all that happened on the way. */
  advance(
    target: string | { readonly to: string } | { readonly next: true },
  ): Promise<{ readonly now: string; readonly events: StandinEvent[] }>;
  /** Tells one activity, or many at once. */
  activity(activity: StandinActivity): Promise<ActivityOutcome>;
  activity(activities: readonly StandinActivity[]): Promise<ActivityOutcome[]>;
  snapshot(name: string): Promise<StandinSnapshot>;
  /** Takes the world back; what it was is kept as a snapshot, whose name is given. */
  restore(name: string): Promise<string>;
  /** A world of its own from a point of this one's history. It ends with its `close`, or with this one's. */
  fork(options?: ForkOptions): Promise<Standin>;
  /** The journal above `since`. */
  events(since?: number): Promise<StandinEvent[]>;
  state(): Promise<Record<string, unknown>>;
  /** Why a compute or an operation is as it is, or was at a point. */
  explain(id: string, at?: HistoryPoint): Promise<Explanation>;
  invariants(): Promise<Invariants>;
  close(): Promise<void>;
}

/** What the control API refuses, with its code: `POINT_NOT_REACHED`, `SNAPSHOT_EXISTS`, `BAD_REQUEST` … */
export class StandinError extends Error {
  override readonly name: string = "StandinError";
  readonly code: string;
  readonly status: number;
  constructor(code: string, message: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

const planLimit = (minimum: number) => {
  const rule = `must be a whole number from ${minimum}, or plan`;
  return z.union([z.literal("plan"), z.int(rule).min(minimum, rule)], rule);
};

const options = z.strictObject({
  seed: z.int().min(0).optional(),
  clock: parsedText(parseClockSetting, CLOCK_RULE).optional(),
  startAt: clockInstant.optional(),
  profile: z.enum(["2024", "2026"]).optional(),
  plan: z.enum(["paid", "free"]).optional(),
  operations: z.enum(["timed", "immediate"]).optional(),
  startDelay: z
    .union([z.literal("profile"), parsedText(parseDistribution, `${DISTRIBUTION_RULE}, or profile`)])
    .optional(),
  limits: z
    .strictObject({
      projects: planLimit(0).exactOptional(),
      branches: planLimit(1).exactOptional(),
      endpoints: planLimit(1).exactOptional(),
      snapshots: planLimit(0).exactOptional(),
    })
    .optional(),
  hostDomain: z.string().regex(HOST_DOMAIN_PATTERN, HOST_DOMAIN_RULE).optional(),
  apiKey: z.string().regex(SECRET_PATTERN, SECRET_RULE).optional(),
  rateLimit: z.boolean().default(false),
  data: z.string().min(1).optional(),
  port: z.union([z.int().min(0).max(65_535), z.literal(false)]).default(0),
});

/** Where a world is made and nothing else is said: so the same test finds the same world on every day. */
const NEW_WORLD_DEFAULTS = {
  seed: 1,
  clock: { mode: "manual", factor: 0 },
  startAt: Date.UTC(2026, 0, 1),
} as const satisfies ServerOptions;

const HOST = "127.0.0.1";
/** Where there is no socket: a name that nobody else has. */
const IN_PROCESS_ORIGIN = "http://standin.localhost";
const VERSION_IN_PROCESS = "in-process";
const EVENTS_PER_CALL = 10_000;

/** Makes a stand-in in this process, or opens one that has files. Rejects with a `StandinError` where an option is not understood. */
export async function createStandin(input: StandinOptions = {}): Promise<Standin> {
  const { data, port, rateLimit, limits: planLimits, ...rest } = parseOptions(input);
  const worldOptions = { ...rest, planLimits };
  const directory = data === undefined ? undefined : openDirectory(resolve(data));
  const isNew = directory?.worlds().includes(DEFAULT_WORLD) !== true;
  const bugs: unknown[] = [];
  const cleanups: (() => unknown)[] = directory === undefined ? [] : [() => directory.release()];
  try {
    const opened = await openWorlds(
      directory ?? memoryStorage(),
      isNew ? { ...NEW_WORLD_DEFAULTS, ...worldOptions } : worldOptions,
      (error) => bugs.push(error),
    );
    cleanups.unshift(() => opened.worlds.close());
    const app = createApp({
      worlds: opened.worlds,
      version: VERSION_IN_PROCESS,
      rateLimit,
      hosts: [new URL(IN_PROCESS_ORIGIN).hostname],
      controlToken: undefined,
      onBug: (error) => bugs.push(error),
    });
    const fetchInProcess = async (request: Request): Promise<Response> => {
      const response = await app.fetch(request);
      // Here, unlike over a socket, a bug can show where it is.
      if (response.status === 500 && bugs.length > 0) throw bugs[0];
      return response;
    };
    let origin = IN_PROCESS_ORIGIN;
    if (port !== false) {
      const server = createAdaptorServer({ fetch: app.fetch });
      await new Promise<void>((listening, failed) =>
        server.once("error", failed).listen(port, HOST, listening),
      );
      origin = `http://${HOST}:${(server.address() as AddressInfo).port}`;
      cleanups.unshift(async () => {
        const closed = new Promise((done) => server.close(done));
        if ("closeAllConnections" in server) server.closeAllConnections();
        await closed;
      });
    }
    const apiKey = opened.apiKey ?? (await createApiKey(fetchInProcess, origin));
    return new InProcessStandin(origin, "", apiKey, fetchInProcess, async () => {
      for (const close of cleanups.splice(0)) await close();
    });
  } catch (error) {
    for (const close of cleanups) await close();
    throw toStandinError(error);
  }
}

function openDirectory(path: string): DataDirectory {
  try {
    return new DataDirectory(path, MIGRATIONS_FOLDER);
  } catch (error) {
    throw toStandinError(error);
  }
}

/** What a directory or the world in it stands against is refused like all else. */
function toStandinError(error: unknown): unknown {
  if (error instanceof DirectoryInUse) return new StandinError("DIRECTORY_IN_USE", error.message, 409);
  return error instanceof WorldMismatch ? new StandinError("WORLD_MISMATCH", error.message, 409) : error;
}

function parseOptions(input: StandinOptions) {
  const result = options.safeParse(input);
  if (result.success) return result.data;
  const issues = result.error.issues.map(
    ({ path, message }) => `${path.length === 0 ? "options" : path.join(".")}: ${message}`,
  );
  throw new StandinError("BAD_REQUEST", issues.join("; "), 400);
}

/** Nobody can tell a key that was made before: a world that comes from a file gets another one. */
async function createApiKey(
  fetchInProcess: (request: Request) => Promise<Response>,
  origin: string,
): Promise<string> {
  const request = new Request(`${origin}/_sim/api_keys`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ key_name: "createStandin" }),
  });
  return ((await (await fetchInProcess(request)).json()) as { key: string }).key;
}

class InProcessStandin implements Standin {
  readonly url: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  readonly #origin: string;
  readonly #fetchInProcess: (request: Request) => Promise<Response>;
  readonly #onClose: () => Promise<void>;
  /** Those that are not closed yet. */
  readonly #forks = new Set<InProcessStandin>();

  constructor(
    origin: string,
    path: string,
    apiKey: string,
    fetchInProcess: (request: Request) => Promise<Response>,
    onClose: () => Promise<void>,
  ) {
    this.url = `${origin}${path}/api/v2`;
    this.controlUrl = `${origin}${path}/_sim`;
    this.apiKey = apiKey;
    this.#origin = origin;
    this.#fetchInProcess = fetchInProcess;
    this.#onClose = onClose;
  }

  fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(typeof input === "string" ? new URL(input, this.#origin) : input, init);
    if (!request.headers.has("authorization") && !new URL(request.url).pathname.includes("/_sim"))
      request.headers.set("Authorization", `Bearer ${this.apiKey}`);
    return this.#fetchInProcess(request);
  };

  async advance(target: string | { readonly to: string } | { readonly next: true }) {
    const body = typeof target === "string" ? { by: target } : target;
    const { now, events, next_since } = await this.#call<{
      now: string;
      events: StandinEvent[];
      next_since?: number;
    }>("POST", "/clock/advance", body);
    return {
      now,
      events: next_since === undefined ? events : [...events, ...(await this.events(next_since))],
    };
  }

  activity(activity: StandinActivity): Promise<ActivityOutcome>;
  activity(activities: readonly StandinActivity[]): Promise<ActivityOutcome[]>;
  async activity(
    input: StandinActivity | readonly StandinActivity[],
  ): Promise<ActivityOutcome | ActivityOutcome[]> {
    const { activities } = await this.#call<{ activities: ActivityOutcome[] }>("POST", "/activity", input);
    const [first] = activities;
    return Array.isArray(input) || first === undefined ? activities : first;
  }

  async snapshot(name: string): Promise<StandinSnapshot> {
    return (await this.#call<{ snapshot: StandinSnapshot }>("POST", "/snapshots", { name })).snapshot;
  }

  async restore(name: string): Promise<string> {
    const path = `/snapshots/${encodeURIComponent(name)}/restore`;
    return (await this.#call<{ former_kept_as: string }>("POST", path, {})).former_kept_as;
  }

  async fork({ name = `fork-${randomUUID()}`, ...input }: ForkOptions = {}): Promise<Standin> {
    await this.#call("POST", "/worlds", { name, ...input });
    const fork = new InProcessStandin(
      this.#origin,
      `/w/${name}`,
      this.apiKey,
      this.#fetchInProcess,
      async () => {
        this.#forks.delete(fork);
        await this.#call("DELETE", `/worlds/${name}`).catch((error: unknown) => {
          // Somebody has deleted it already.
          if (!(error instanceof StandinError) || error.code !== "WORLD_NOT_FOUND") throw error;
        });
      },
    );
    this.#forks.add(fork);
    return fork;
  }

  async events(since = 0): Promise<StandinEvent[]> {
    const all: StandinEvent[] = [];
    for (let from = since; ; ) {
      const { events, next_since } = await this.#call<{ events: StandinEvent[]; next_since: number }>(
        "GET",
        `/events?since=${from}&limit=${EVENTS_PER_CALL}`,
      );
      all.push(...events);
      if (events.length < EVENTS_PER_CALL) return all;
      from = next_since;
    }
  }

  state(): Promise<Record<string, unknown>> {
    return this.#call("GET", "/state");
  }

  explain(id: string, at?: HistoryPoint): Promise<Explanation> {
    const kind = id.startsWith("ep-") ? "endpoints" : "operations";
    const query = at === undefined ? "" : `?at=${encodeURIComponent(String(at))}`;
    return this.#call("GET", `/explain/${kind}/${encodeURIComponent(id)}${query}`);
  }

  invariants(): Promise<Invariants> {
    return this.#call("GET", "/invariants");
  }

  async close(): Promise<void> {
    for (const fork of [...this.#forks]) await fork.close();
    await this.#onClose();
  }

  async #call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { "Content-Type": "application/json" };
    const init = body === undefined ? { method } : { method, headers, body: JSON.stringify(body) };
    const response = await this.#fetchInProcess(new Request(`${this.controlUrl}${path}`, init));
    const responseBody = (await response.json()) as T & { code: string; message: string };
    if (!response.ok) throw new StandinError(responseBody.code, responseBody.message, response.status);
    return responseBody;
  }
}
