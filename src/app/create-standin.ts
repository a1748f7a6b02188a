import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { DataDirectory, DEFAULT_WORLD, DirectoryInUse } from "../worlds/data-directory.ts";
import { createApp } from "./create-app.ts";
import { memoryStorage, openWorlds, type ServerOptions, WorldMismatch } from "./open-worlds.ts";
import { MIGRATIONS_FOLDER } from "./package-root.ts";
import { parseStandinOptions } from "./standin-options.ts";

/** Options of a stand-in. The defaults are fixed, so a new world is the same every time. */
export type StandinOptions = {
  /** Decides every id and every duration. Default for a new world: 1. */
  readonly seed?: number;
  /** `manual`, `real`, or a factor like `60x`. Default for a new world: `manual`. */
  readonly clock?: string;
  /** The instant at which the clock starts, ISO 8601. Default for a new world: 2026-01-01T00:00:00Z. */
  readonly startAt?: string;
  /** Use the platform's numbers of this year. */
  readonly profile?: "2024" | "2026";
  /** Plan of accounts that are created without one. */
  readonly plan?: "paid" | "free";
  /** Whether operations take time. */
  readonly operations?: "timed" | "immediate";
  /** Whether an operation locks what it works on or its whole project. */
  readonly locks?: "narrow" | "project";
  /**
   * Time that a suspended compute needs to start: `3s`, `1s..5s` or `3s~0.5`. `profile` restores the
   * profile's value.
   */
  readonly startDelay?: string;
  /**
   * Override limits of the plan: projects per account, the others per project. `plan` restores the plan's
   * limit.
   */
  readonly limits?: {
    readonly projects?: number | "plan";
    readonly branches?: number | "plan";
    readonly endpoints?: number | "plan";
    readonly snapshots?: number | "plan";
  };
  /** The domain of the host names of computes. */
  readonly hostDomain?: string;
  /** An API key that is valid from the start. Default: a new key. */
  readonly apiKey?: string;
  /** Answer 429 above the rate limits of the platform. Default: false. */
  readonly rateLimit?: boolean;
  /** A directory for the files of the worlds. Default: in memory, until the process ends. */
  readonly data?: string;
  /** A port of 127.0.0.1; 0 for a free one; `false` for no socket, only `fetch`. Default: 0. */
  readonly port?: number | false;
};

/** A point in history: an ISO 8601 instant, or the sequence number of an event. */
export type HistoryPoint = string | number;

export type StandinEvent = {
  readonly seq: number;
  /** The instant of the event, ISO 8601. */
  readonly at: string;
  readonly type: string;
  /** Sequence number of the first event of the same decision. */
  readonly decision: number;
  readonly [property: string]: unknown;
};

/** What a client does to a compute; see docs/reference/control-api.md. */
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
  /** Why the activity was refused. */
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
  /** The last point of the origin's history that the fork shares. Default: the newest event. */
  readonly at?: HistoryPoint;
  readonly clock?: string;
  /** Seed of everything that the fork draws. Default: that of the origin. */
  readonly seed?: number;
};

export type Invariants = {
  readonly ok: boolean;
  readonly checked: number;
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
};

export type Explanation = {
  readonly at: string;
  /** The explanation in sentences. */
  readonly summary: string;
  readonly reasons: readonly {
    readonly about: string;
    readonly text: string;
    readonly events: readonly number[];
  }[];
  readonly events: readonly StandinEvent[];
};

/**
 * A world in this process, for tests. Methods reject with a `StandinError` if the control API refuses the
 * call.
 */
export interface Standin {
  /** Base URL of the imitated API. Without a socket, it works only with `fetch` of this object. */
  readonly url: string;
  /** Base URL of the control API. */
  readonly controlUrl: string;
  /** A key of the first account. */
  readonly apiKey: string;
  /**
   * Like the global `fetch`, but in this process. A path such as `/api/v2/projects` or `/_sim/clock` is one of
   * this world; `/w/<name>/…` names another world. Adds `apiKey` to API calls without a key.
   */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /**
   * Advances the clock by a duration like `5m`, to an instant, or to the next due work. Returns the events on
   * the way.
   */
  advance(
    target: string | { readonly to: string } | { readonly next: true },
  ): Promise<{ readonly now: string; readonly events: StandinEvent[] }>;
  /** Reports one activity, or many at once. */
  activity(activity: StandinActivity): Promise<ActivityOutcome>;
  activity(activities: readonly StandinActivity[]): Promise<ActivityOutcome[]>;
  snapshot(name: string): Promise<StandinSnapshot>;
  /** Restores a snapshot. Returns the name of a new snapshot of the state before. */
  restore(name: string): Promise<string>;
  /**
   * A separate world from a point of this world's history. Ends with its own `close` or with the `close` of
   * this world.
   */
  fork(options?: ForkOptions): Promise<Standin>;
  /** All events after the sequence number `since`. */
  events(since?: number): Promise<StandinEvent[]>;
  state(): Promise<Record<string, unknown>>;
  /** Why a compute or an operation is in its state, now or at a point in history. */
  explain(id: string, at?: HistoryPoint): Promise<Explanation>;
  invariants(): Promise<Invariants>;
  close(): Promise<void>;
}

/**
 * An error answer of the control API, with its code: `POINT_NOT_REACHED`, `SNAPSHOT_EXISTS`, `BAD_REQUEST` …
 */
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

/** Fixed, so that a test finds the same world on every run. */
const NEW_WORLD_DEFAULTS = {
  seed: 1,
  clock: { mode: "manual", factor: 0 },
  startAt: Date.UTC(2026, 0, 1),
} as const satisfies ServerOptions;

const HOST = "127.0.0.1";
/** The origin without a socket: a name that no server has. */
const IN_PROCESS_ORIGIN = "http://standin.localhost";
const VERSION_IN_PROCESS = "in-process";
const EVENTS_PER_CALL = 10_000;

/**
 * Creates a stand-in in this process, or opens one from its files. Rejects with a `StandinError` if an option
 * is invalid.
 */
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
      // In process, a bug can reject with its own stack instead of a 500.
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

/** Gives errors of the directory and of its world a code, like those of the control API. */
function toStandinError(error: unknown): unknown {
  if (error instanceof DirectoryInUse) return new StandinError("DIRECTORY_IN_USE", error.message, 409);
  return error instanceof WorldMismatch ? new StandinError("WORLD_MISMATCH", error.message, 409) : error;
}

function parseOptions(input: StandinOptions) {
  const { options, problem } = parseStandinOptions(input);
  if (options === undefined) throw new StandinError("BAD_REQUEST", problem, 400);
  return options;
}

/** A stored world has only hashes of its keys, so it gets a new key. */
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
  /** Path of this world on its server; empty for the default world. */
  readonly #path: string;
  readonly #fetchInProcess: (request: Request) => Promise<Response>;
  readonly #onClose: () => Promise<void>;
  /** Forks that are not closed. */
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
    this.#path = path;
    this.#fetchInProcess = fetchInProcess;
    this.#onClose = onClose;
  }

  fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(typeof input === "string" ? this.#resolve(input) : input, init);
    if (!request.headers.has("authorization") && !new URL(request.url).pathname.includes("/_sim"))
      request.headers.set("Authorization", `Bearer ${this.apiKey}`);
    return this.#fetchInProcess(request);
  };

  #resolve(input: string): URL {
    const isOfThisWorld = input.startsWith("/") && !/^\/(w\/|\/)/.test(input);
    return new URL(isOfThisWorld ? `${this.#path}${input}` : input, this.#origin);
  }

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
          // It has been deleted already.
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
