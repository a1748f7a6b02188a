import { createHash } from "node:crypto";
import { parseObject } from "../../control-api/http/render-object.ts";
import { isoInstant } from "../../kernel/calendar.ts";
import {
  type DurationDistribution,
  formatDistribution,
  parseDistribution,
} from "../../kernel/distribution.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Refusal } from "../../platform/catalog/refusal-codes.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type { RecordedEvent } from "../../platform/model/events.ts";
import { DEFAULT_DURATIONS } from "../../platform/model/world-settings.ts";
import { findReachableCompute } from "../../platform/rules/compute/decide-activity.ts";
import { evolve } from "../../platform/rules/evolve.ts";
import { emptyWorld, type World } from "../../platform/world/world.ts";
import { isRestoreCall } from "../../scenario/check/times.ts";
import { Labels } from "../../scenario/file/labels.ts";
import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import { accountDescriptions } from "../../scenario/file/world-description.ts";
import type { WorldDescription } from "../../scenario/file/world-schema.ts";
import {
  CannotRunError,
  type ScenarioTarget,
  type TargetRequest,
  type TargetResponse,
} from "../../scenario/run/target.ts";
import type { ArrivalSource } from "../../simulation/arrival-source.ts";
import { HttpConnection, type RemoteServer } from "./http-connection.ts";
import { HttpLayout } from "./http-layout.ts";
import { rejectUnsupported } from "./unsupported-on-servers.ts";

type SubmittedArrival = { readonly activity: Activity; readonly at: SimTime };
/** Outcomes of arrivals. The outcome of a scheduled arrival comes later, as an event. */
type ActivityResponse = {
  readonly activities: readonly {
    readonly outcome: string;
    readonly code?: string;
    readonly message?: string;
  }[];
};

const ARRIVALS_PER_CALL = 5_000;
const EVENTS_PER_CALL = 10_000;

/** The option of `standin serve` for each setting of a scenario's world. */
const OPTION_OF = {
  profile: "--profile",
  operations: "--operations",
  durations: "--durations",
  startDelay: "--start-delay",
  limits: "limits",
} as const;

/**
 * Creates the world of the scenario in a running server, in addition to what it has. Its clock must be manual: the
 * run advances it.
 */
export async function openHttpTarget(scenario: Scenario, server: RemoteServer): Promise<ScenarioTarget> {
  const httpTarget = new HttpTarget(server);
  rejectUnsupported(scenario);
  await httpTarget.open(scenario.world);
  return httpTarget;
}

class HttpTarget implements ScenarioTarget {
  readonly labels = new Labels();
  readonly #connection: HttpConnection;
  readonly #keys = new Map<string, string>();
  /** The world of the server, folded from its events. */
  #world: World = emptyWorld();
  #now: SimTime = 0;
  #events: RecordedEvent[] = [];
  /** The newest event of the layout. Faults set later belong to this scenario. */
  #layoutSeq = 0;
  readonly #snapshots = new Set<string>();

  constructor(server: RemoteServer) {
    this.#connection = new HttpConnection(server);
  }

  async open(description: WorldDescription): Promise<void> {
    await this.#connection.checkToken();
    const { mode } = (await this.#connection.control("GET", "/clock")) as { mode: string };
    if (mode !== "manual")
      throw new CannotRunError(
        `the clock of ${this.#connection.base} is ${mode}, but a scenario needs a manual clock; run: standin clock set manual`,
      );
    await this.#syncEvents();
    this.#checkSettings(description);
    const layout = new HttpLayout(
      this.#connection,
      this.labels,
      (account) => this.keyOf(account),
      () => this.#finishOperations(),
    );
    for (const { label, plan, projects } of accountDescriptions(description)) {
      const created = (await this.#connection.control("POST", "/accounts", { name: label, plan })) as {
        account: { id: string };
        api_key: { key: string };
      };
      this.#keys.set(label, created.api_key.key);
      this.labels.add({ kind: "account", label, id: created.account.id, account: label });
      for (const project of projects) await layout.createProject(label, project);
    }
    await this.#syncEvents();
    this.#layoutSeq = this.#world.seq;
    this.#events = [];
  }

  world(): World {
    return this.#world;
  }

  now(): SimTime {
    return this.#now;
  }

  keyOf(account: string): string {
    const key = this.#keys.get(account);
    if (key === undefined) throw new Error(`there is no account ${account}`);
    return key;
  }

  async request(call: TargetRequest): Promise<TargetResponse> {
    const response = await this.#connection.fetch(call);
    if (call.surface === "control" && call.path === "/snapshots" && response.status === 201)
      this.#snapshots.add((call.body as { name: string }).name);
    const isRestored = call.surface === "control" && isRestoreCall(call) && response.status < 300;
    // The history of a restored world restarts, and all of its events have been observed.
    if (isRestored) {
      this.#world = emptyWorld();
      this.#snapshots.add((response.body as { former_kept_as: string }).former_kept_as);
    }
    const events = await this.#syncEvents();
    if (!isRestored) this.#events.push(...events);
    return response;
  }

  async runUntil(arrivals: ArrivalSource, to: SimTime): Promise<void> {
    for (;;) {
      const payload: object[] = [];
      const submitted: SubmittedArrival[] = [];
      const rejected: (SubmittedArrival & { readonly refusal: Refusal })[] = [];
      while (arrivals.at <= to && submitted.length + rejected.length < ARRIVALS_PER_CALL) {
        // A call may have advanced the clock past the arrival; it then arrives now.
        const at = Math.max(arrivals.at, this.#now);
        const activity = arrivals.take();
        const { endpointId, durationMs, connectionId, ...rest } = activity;
        const reachable = findReachableCompute(this.#world, endpointId);
        // The server would reject the whole batch because of one unknown compute.
        if (!reachable.ok) {
          rejected.push({ activity, at, refusal: reachable.refusal });
          continue;
        }
        submitted.push({ activity, at });
        payload.push({
          endpoint_id: endpointId,
          at: isoInstant(at),
          ...rest,
          duration_ms: durationMs,
          connection_id: connectionId,
        });
      }
      const { activities } = (
        payload.length === 0
          ? { activities: [] }
          : await this.#connection.control("POST", "/activity", payload)
      ) as ActivityResponse;
      for (const [index, { outcome, code = "", message = "" }] of activities.entries()) {
        const arrival = submitted[index];
        if (outcome === "refused" && arrival !== undefined)
          rejected.push({ ...arrival, refusal: { code: code as Refusal["code"], message } });
      }
      rejected.sort((one, other) => one.at - other.at);
      const reportRejectedBefore = (at: SimTime) => {
        for (let next = rejected[0]; next !== undefined && next.at < at; next = rejected[0]) {
          rejected.shift();
          arrivals.observeRefusal(next.activity, next.refusal, next.at);
        }
      };
      const isLast = arrivals.at > to;
      // Not to the next arrival, which has not been sent yet.
      const advanceTo = isLast ? to : arrivals.at - 1;
      if (advanceTo > this.#now)
        await this.#connection.control("POST", "/clock/advance", { to: isoInstant(advanceTo) });
      await this.#syncEvents((event) => {
        reportRejectedBefore(event.at);
        arrivals.observe(event);
      });
      reportRejectedBefore(Number.POSITIVE_INFINITY);
      if (isLast) return;
    }
  }

  takeEvents(): readonly RecordedEvent[] {
    return this.#events.splice(0);
  }

  async restart(): Promise<void> {
    throw new CannotRunError("restart cannot be done on a server from outside");
  }

  async digest(): Promise<string> {
    return createHash("sha256")
      .update(JSON.stringify(await this.#connection.control("GET", "/state")))
      .digest("hex")
      .slice(0, 16);
  }

  /** Deletes the faults and snapshots of this scenario, so that the next run does not find them. */
  async close(): Promise<void> {
    const faults = [...this.#world.faults.values()].filter(({ number }) => number > this.#layoutSeq);
    const paths = [
      ...faults.map(({ name }) => ["faults", name]),
      ...[...this.#snapshots].map((name) => ["snapshots", name]),
    ];
    try {
      for (const [of, name = ""] of paths)
        await this.#connection.fetch({
          surface: "control",
          method: "DELETE",
          path: `/${of}/${encodeURIComponent(name)}`,
        });
    } catch (error) {
      // The server is gone, and its faults with it.
      if (!(error instanceof CannotRunError)) throw error;
    }
  }

  /**
   * Folds the events since the last call. Calls `onEvent` for the events of a decision once all of them are
   * folded.
   */
  async #syncEvents(onEvent: (event: RecordedEvent) => void = () => undefined): Promise<RecordedEvent[]> {
    const synced: RecordedEvent[] = [];
    let decision: RecordedEvent[] = [];
    for (;;) {
      const path = `/events?since=${this.#world.seq}&limit=${EVENTS_PER_CALL}`;
      const { events, forgotten_seq } = (await this.#connection.control("GET", path)) as {
        events: unknown[];
        forgotten_seq?: number;
      };
      if (forgotten_seq !== undefined)
        throw new CannotRunError(
          `the history of ${this.#connection.base} is truncated up to event ${forgotten_seq}; use a new world, which has all of its events`,
        );
      for (const record of events) {
        const event = parseObject(record) as RecordedEvent;
        if (event.decision !== decision[0]?.decision) {
          decision.forEach(onEvent);
          decision = [];
        }
        evolve(this.#world, event);
        decision.push(event);
        synced.push(event);
      }
      this.#world.changes.clear();
      if (events.length < EVENTS_PER_CALL) break;
    }
    decision.forEach(onEvent);
    this.#now = Date.parse(((await this.#connection.control("GET", "/clock")) as { now: string }).now);
    return synced;
  }

  /** Settings that apply only when a world is created must be those of the scenario. */
  #checkSettings({ profile, operations, durations, start_delay, limits }: WorldDescription): void {
    const settings = { durations: DEFAULT_DURATIONS, ...this.#world.settings };
    if (settings.calibration !== undefined)
      throw new CannotRunError(
        `world.profile: the scenario wants ${profile}, but ${this.#connection.base} has the calibrated profile ${settings.calibration.name}; start the server with --profile ${profile}`,
      );
    const expected = {
      profile,
      operations,
      durations,
      startDelay: start_delay === undefined ? undefined : parseDistribution(start_delay),
      limits,
    };
    for (const key of Object.keys(OPTION_OF) as (keyof typeof OPTION_OF)[]) {
      if (JSON.stringify(expected[key]) === JSON.stringify(settings[key])) continue;
      const format = (value: unknown) =>
        value === undefined
          ? "the default"
          : key === "startDelay"
            ? formatDistribution(value as DurationDistribution)
            : JSON.stringify(value);
      throw new CannotRunError(
        `world.${key === "startDelay" ? "start_delay" : key}: the scenario wants ${format(expected[key])}, but ${this.#connection.base} has ${format(settings[key])}; start the server with the same ${OPTION_OF[key]}`,
      );
    }
  }

  /** Advances the clock until all operations have finished. */
  async #finishOperations(): Promise<void> {
    for (await this.#syncEvents(); this.#world.operations.size > 0; await this.#syncEvents())
      await this.#connection.control("POST", "/clock/advance", { next: true });
  }
}
