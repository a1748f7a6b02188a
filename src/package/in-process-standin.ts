import { randomUUID } from "node:crypto";
import { isoInstant } from "../kernel/calendar.ts";
import { UserError } from "../ports/user-error.ts";
import type { StatementLog } from "../postgres/statements/statement-log.ts";
import { connectionUri } from "../remote/client/connection-uri.ts";
import { DEFAULT_WORLD } from "../worlds/directory-layout.ts";
import {
  type ActivityOutcome,
  type ConnectionUriOptions,
  type Explanation,
  type ForkOptions,
  type HistoryPoint,
  type Invariants,
  type Standin,
  type StandinActivity,
  type StandinEndpoint,
  StandinError,
  type StandinEvent,
  type StandinFaultInForce,
  type StandinOperation,
  type StandinRequest,
  type StandinSnapshot,
  type WaitCondition,
} from "./standin-world.ts";

const ENTRIES_PER_CALL = 10_000;

/** The server of all worlds of this process. */
export type InProcessServer = {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Statements of its Postgres clients; absent if it accepts no clients. */
  readonly statements?: StatementLog | undefined;
};

/** A world of this process, used through its HTTP surfaces without a socket. */
export class InProcessStandin implements Standin {
  readonly url: string;
  readonly controlUrl: string;
  readonly apiKey: string;
  readonly #origin: string;
  /** Path of this world on its server; empty for the default world. */
  readonly #path: string;
  readonly #server: InProcessServer;
  readonly #onClose: () => Promise<void>;
  /** Forks that are not closed. */
  readonly #forks = new Set<InProcessStandin>();

  constructor(
    origin: string,
    path: string,
    apiKey: string,
    server: InProcessServer,
    onClose: () => Promise<void>,
  ) {
    this.url = `${origin}${path}/api/v2`;
    this.controlUrl = `${origin}${path}/_sim`;
    this.apiKey = apiKey;
    this.#origin = origin;
    this.#path = path;
    this.#server = server;
    this.#onClose = onClose;
  }

  fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(typeof input === "string" ? this.#resolve(input) : input, init);
    const { pathname } = new URL(request.url);
    // SQL over HTTP has a password instead, and rejects a key.
    const takesNoKey = pathname.includes("/_sim") || pathname.endsWith("/sql");
    if (!request.headers.has("authorization") && !takesNoKey)
      request.headers.set("Authorization", `Bearer ${this.apiKey}`);
    return this.#server.fetch(request);
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

  async now(): Promise<string> {
    return (await this.#call<{ now: string }>("GET", "/clock")).now;
  }

  async wait(until: WaitCondition, { timeout }: { readonly timeout?: string } = {}) {
    const { mode } = await this.#call<{ mode: string }>("GET", "/clock");
    const body = { until, ...(timeout === undefined ? {} : { timeout }), advance: mode === "manual" };
    const { now } = await this.#call<{ now: string }>("POST", "/wait", body);
    return { now };
  }

  readonly faults: Standin["faults"] = {
    add: async (name, fault) => {
      const path = `/faults/${encodeURIComponent(name)}`;
      return (await this.#call<{ fault: StandinFaultInForce }>("PUT", path, fault)).fault;
    },
    list: async () => (await this.#call<{ faults: StandinFaultInForce[] }>("GET", "/faults")).faults,
    clear: async (name) => {
      await this.#call("DELETE", name === undefined ? "/faults" : `/faults/${encodeURIComponent(name)}`);
    },
  };

  readonly requests: Standin["requests"] = {
    list: async (filter = {}) => {
      const filters = Object.entries(filter).flatMap(([name, value]) =>
        value === undefined ? [] : [`&${name}=${encodeURIComponent(value)}`],
      );
      const all: StandinRequest[] = [];
      for (let since = 0; ; ) {
        const path = `/requests?since=${since}&limit=${ENTRIES_PER_CALL}${filters.join("")}`;
        const { requests, next_since } = await this.#call<{
          requests: StandinRequest[];
          next_since: number;
        }>("GET", path);
        all.push(...requests);
        if (requests.length < ENTRIES_PER_CALL) return all;
        since = next_since;
      }
    },
  };

  readonly statements: Standin["statements"] = {
    list: async () =>
      (this.#server.statements?.of(this.#world) ?? []).map(
        ({ at, endpointId, database, role, text, parameters, outcome }) => ({
          ...{ at: isoInstant(at), endpoint: endpointId, database, role, text, parameters, outcome },
        }),
      ),
  };

  get #world(): string {
    return this.#path === "" ? DEFAULT_WORLD : this.#path.replace(/^\/w\//, "");
  }

  readonly endpoints: Standin["endpoints"] = {
    list: async () => (await this.#call<{ endpoints: StandinEndpoint[] }>("GET", "/endpoints")).endpoints,
    start: (endpointId) => this.#callEndpoint(endpointId, "start"),
    suspend: (endpointId) => this.#callEndpoint(endpointId, "suspend"),
    activity: (endpointId, activity = {}) => this.activity({ endpoint_id: endpointId, ...activity }),
  };

  async #callEndpoint(endpointId: string, action: "start" | "suspend"): Promise<StandinOperation[]> {
    const id = encodeURIComponent(endpointId);
    const { project_id } = await this.#call<StandinEndpoint>("GET", `/endpoints/${id}/stats`);
    const request = new Request(`${this.url}/projects/${project_id}/endpoints/${id}/${action}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${this.apiKey}` },
    });
    return (await this.#answerTo<{ operations: StandinOperation[] }>(request)).operations;
  }

  async connectionUri({ branch, ...request }: ConnectionUriOptions = {}): Promise<string> {
    if (this.#server.statements === undefined)
      throw new StandinError("POSTGRES_DISABLED", "pass postgres: true to createStandin", 409);
    const get = async (path: string) => {
      const response = await this.fetch(`/api/v2${path}`);
      return { status: response.status, body: await response.json() };
    };
    try {
      const endpoints = await this.endpoints.list();
      const uri = await connectionUri({ get }, endpoints, { ...request, target: branch });
      // No client trusts the authority of this server without a configuration of its own.
      return uri.replace(/([?&]sslmode=)[^&]*/, "$1disable").replace(/&channel_binding=[^&]*/, "");
    } catch (error) {
      if (error instanceof UserError) throw new StandinError("BAD_REQUEST", error.message, 400);
      throw error;
    }
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
    const fork = new InProcessStandin(this.#origin, `/w/${name}`, this.apiKey, this.#server, async () => {
      this.#forks.delete(fork);
      await this.#call("DELETE", `/worlds/${name}`).catch((error: unknown) => {
        // The world has been deleted already.
        if (!(error instanceof StandinError) || error.code !== "WORLD_NOT_FOUND") throw error;
      });
    });
    this.#forks.add(fork);
    return fork;
  }

  async events(since = 0): Promise<StandinEvent[]> {
    const all: StandinEvent[] = [];
    for (let from = since; ; ) {
      const { events, next_since } = await this.#call<{ events: StandinEvent[]; next_since: number }>(
        "GET",
        `/events?since=${from}&limit=${ENTRIES_PER_CALL}`,
      );
      all.push(...events);
      if (events.length < ENTRIES_PER_CALL) return all;
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
    return this.#answerTo(new Request(`${this.controlUrl}${path}`, init));
  }

  async #answerTo<T>(request: Request): Promise<T> {
    const response = await this.#server.fetch(request);
    const body = (await response.json()) as T & { code: string; message: string };
    if (!response.ok) throw new StandinError(body.code, body.message, response.status);
    return body;
  }
}
