import type { DurationMs, SimTime } from "../../kernel/time.ts";
import type { Refusal } from "../../platform/catalog/refusal-codes.ts";
import type { Activity } from "../../platform/model/activity.ts";
import type {
  AccessNoun,
  ContentNoun,
  EventTypeOf,
  RecordedEvent,
  WorldSettingType,
} from "../../platform/model/events.ts";
import { findConnection } from "../../platform/rules/compute/open-connections.ts";
import type { World } from "../../platform/world/world.ts";
import type { ArrivalSource } from "../../simulation/arrival-source.ts";
import { type Arrivals, NO_CONNECTION } from "../../traffic/generated/arrivals.ts";
import { MergedArrivals } from "../../traffic/generated/merged-arrivals.ts";
import { TrafficSources } from "../../traffic/generated/sources.ts";
import type { RecordedTraffic } from "../../traffic/recorded/read-recording.ts";
import { RecordedArrivals } from "../../traffic/recorded/recorded-arrivals.ts";
import type { Labels } from "../file/labels.ts";
import { isClosedLoop, type ReplayTraffic, type ScenarioTraffic } from "../file/traffic-schema.ts";
import { STEP_SOURCE } from "../measure/event-causes.ts";

/** Recorded traffic by the name of its source. */
export type RecordingsBySource = ReadonlyMap<string, RecordedTraffic>;

type TrafficContext = {
  readonly seed: number;
  readonly start: SimTime;
  /** The world was restored to this instant; arrivals up to it (inclusive) have already happened. */
  readonly restoredTo: SimTime | undefined;
  /** Default end of a source, exclusive. */
  readonly end: SimTime | undefined;
  readonly instant: (when: NonNullable<ScenarioTraffic["from"]>) => SimTime;
  readonly recordings: RecordingsBySource;
  /** The current world, which knows the open connections. */
  readonly world: () => World;
};
type TrafficObserver = {
  readonly observe: (event: RecordedEvent) => void;
  readonly refused: (activity: Activity, code: string, at: SimTime) => void;
};

const NO_SOURCE = -1;

/** The outcome of an activity step. */
export type ArrivalOutcome = {
  readonly outcome: "served" | "waits" | "refused";
  readonly waitedMs: DurationMs;
  readonly code?: string;
};

/**
 * One stream of a source; a source has one per compute. `openConnections` are those that the client believes
 * to be open.
 */
type TrafficStream = {
  readonly name: string;
  readonly endpointId: string;
  /** Prefix of its connection names. */
  readonly connectionPrefix: string;
  readonly openConnections: Set<number>;
  /** vCPUs that each query and transaction keeps busy. */
  readonly load?: number | undefined;
};

/** All traffic of a scenario as one arrival source, which also forwards events to the run. */
export class ScenarioArrivals implements ArrivalSource {
  readonly #merged: MergedArrivals;
  readonly #streams: TrafficStream[] = [];
  readonly #closedLoopStreams = new Map<string, number[]>();
  readonly #observer: TrafficObserver;
  readonly #world: () => World;
  /** Arrivals of activity steps, earliest first. */
  readonly #injected: { readonly at: SimTime; readonly activity: Activity }[] = [];
  #outcome: ArrivalOutcome | undefined;
  /** The compute of the last injected arrival. */
  #injectedComputeId: string | undefined;
  #isStopped = false;
  #lastSource = NO_SOURCE;
  #lastConnection = NO_CONNECTION;

  constructor(
    sources: readonly ScenarioTraffic[],
    labels: Labels,
    context: TrafficContext,
    observer: TrafficObserver,
  ) {
    this.#observer = observer;
    this.#world = context.world;
    const streams = sources.flatMap((source) => this.#openSource(source, labels, context));
    this.#merged = new MergedArrivals(streams);
    if (context.restoredTo !== undefined) this.#closeAllLost(context.restoredTo);
  }

  /** Stops all arrivals, so that the current advance ends soon. */
  end(): void {
    this.#isStopped = true;
  }

  get at(): SimTime {
    if (this.#isStopped) return Number.POSITIVE_INFINITY;
    const [injected] = this.#injected;
    return injected === undefined ? this.#merged.at : Math.min(injected.at, this.#merged.at);
  }

  /** Adds an arrival that belongs to no source. It comes before other arrivals of the same instant. */
  inject(at: SimTime, activity: Activity): void {
    const index = this.#injected.findIndex((other) => other.at > at);
    this.#injected.splice(index < 0 ? this.#injected.length : index, 0, { at, activity });
    this.#outcome = undefined;
    this.#injectedComputeId = activity.endpointId;
  }

  /** The outcome of the last injected arrival. */
  get outcome(): ArrivalOutcome | undefined {
    return this.#outcome;
  }

  take(): Activity {
    const merged = this.#merged;
    const [injected] = this.#injected;
    if (injected !== undefined && injected.at <= merged.at) {
      this.#injected.shift();
      this.#lastSource = NO_SOURCE;
      return injected.activity;
    }
    const stream = this.#streams[merged.source] as TrafficStream;
    const { durationMs, queries, kind, connection } = merged;
    this.#lastSource = merged.source;
    this.#lastConnection = connection;
    merged.next();
    const runs = kind === "query" || kind === "transaction";
    const activity: Activity = {
      endpointId: stream.endpointId,
      kind,
      durationMs,
      queries,
      source: stream.name,
      ...(runs && stream.load !== undefined ? { load: stream.load } : {}),
    };
    if (connection === NO_CONNECTION) return activity;
    if (kind === "connect") stream.openConnections.add(connection);
    if (kind === "disconnect") stream.openConnections.delete(connection);
    return { ...activity, connectionId: connectionId(stream, connection) };
  }

  observe(event: RecordedEvent): void {
    switch (event.type) {
      case "ComputeSuspending":
      case "ComputeSuspended":
      case "ComputeStartFailed":
      case "ComputeDeleted":
        this.#closeLost(event.endpointId, event.at);
        break;
      case "WorldReset":
        this.#closeAllLost(event.at);
        break;
      case "ActivityRecorded": {
        const { activity, waitedMs } = event;
        if (activity.kind === "disconnect") this.#closeLost(activity.endpointId, event.at);
        if (activity.source === STEP_SOURCE)
          this.#outcome = { outcome: waitedMs > 0 ? "waits" : "served", waitedMs };
        break;
      }
      case "ActivityDropped":
        // When arrivals are scheduled ahead, the world reports a rejection only later.
        if (event.endpointId === this.#injectedComputeId)
          this.#outcome ??= { outcome: "refused", waitedMs: 0, code: event.reason };
        break;
      default:
        event.type satisfies ConcernsNoArrival;
    }
    this.#observer.observe(event);
  }

  observeRefusal(activity: Activity, { code }: Refusal, at: SimTime): void {
    if (activity.source === STEP_SOURCE) this.#outcome = { outcome: "refused", waitedMs: 0, code };
    const stream = this.#streams[this.#lastSource];
    // The activity may come from a call instead of a source.
    if (stream !== undefined && stream.name === activity.source && this.#lastConnection !== NO_CONNECTION) {
      stream.openConnections.delete(this.#lastConnection);
      this.#merged.onConnectionClosed(at, this.#lastConnection, this.#lastSource);
    }
    this.#observer.refused(activity, code, at);
  }

  #openSource(source: ScenarioTraffic, labels: Labels, context: TrafficContext): Arrivals[] {
    const { seed, start, restoredTo, end, instant } = context;
    if (source.pattern === "replay") return this.#openRecording(source, labels, context);
    const sources = new TrafficSources(seed);
    const from = source.from === undefined ? start : instant(source.from);
    const until = source.until === undefined ? end : instant(source.until);
    const computes = new Set([source.to].flat().flatMap((pattern) => labels.computes(pattern)));
    return [...computes].map(({ id, label }) => {
      const arrivals = sources.open(`${source.name}/${label}`, source, { from, until });
      const openConnections = skipThrough(arrivals, restoredTo);
      const index =
        this.#streams.push({
          name: source.name,
          endpointId: id,
          connectionPrefix: source.name,
          openConnections,
          load: source.load,
        }) - 1;
      if (isClosedLoop(source))
        this.#closedLoopStreams.set(id, [...(this.#closedLoopStreams.get(id) ?? []), index]);
      return arrivals;
    });
  }

  #openRecording(
    source: ReplayTraffic,
    labels: Labels,
    { start, restoredTo, end, instant, recordings }: TrafficContext,
  ): Arrivals[] {
    const recorded = recordings.get(source.name);
    if (recorded === undefined) throw new Error(`${source.file} was not read`);
    const from = source.from === undefined ? start : instant(source.from);
    const until = source.until === undefined ? end : instant(source.until);
    const firstAt = Math.min(
      ...[...recorded.endpoints.values()].map(({ at }) => at[0] ?? Number.POSITIVE_INFINITY),
    );
    const shiftMs = source.align === "clock" ? 0 : from - firstAt;
    const usedComputes = new Set<string>();
    return [...recorded.endpoints].map(([endpoint, requests]) => {
      const [compute] = labels.computes(source.computes?.[endpoint] ?? [source.to].flat()[0] ?? endpoint);
      const endpointId = compute?.id ?? endpoint;
      // Several endpoints of a recording may map to one compute; each keeps its own connections.
      const connectionPrefix = usedComputes.has(endpointId) ? `${source.name}-${endpoint}` : source.name;
      usedComputes.add(endpointId);
      const arrivals = new RecordedArrivals(requests, shiftMs, until);
      while (arrivals.at < from) arrivals.next();
      const openConnections = skipThrough(arrivals, restoredTo);
      this.#streams.push({ name: source.name, endpointId, connectionPrefix, openConnections });
      return arrivals;
    });
  }

  #closeAllLost(at: SimTime): void {
    for (const endpointId of this.#closedLoopStreams.keys()) this.#closeLost(endpointId, at);
  }

  /**
   * Notifies clients of connections that the world has closed. A connection that waits for a start survives
   * the suspend before it.
   */
  #closeLost(endpointId: string, at: SimTime): void {
    for (const index of this.#closedLoopStreams.get(endpointId) ?? []) {
      const stream = this.#streams[index] as TrafficStream;
      for (const connection of [...stream.openConnections]) {
        if (findConnection(this.#world(), endpointId, connectionId(stream, connection), at) !== undefined)
          continue;
        stream.openConnections.delete(connection);
        this.#merged.onConnectionClosed(at, connection, index);
      }
    }
  }
}

function connectionId({ connectionPrefix }: TrafficStream, connection: number): string {
  return `${connectionPrefix}-${connection}`;
}

/** Skips arrivals up to an instant (inclusive); returns the connections that they open. */
function skipThrough(arrivals: Arrivals, until: SimTime = Number.NEGATIVE_INFINITY): Set<number> {
  const openConnections = new Set<number>();
  for (; arrivals.at <= until; arrivals.next())
    if (arrivals.kind === "connect") openConnections.add(arrivals.connection);
  return openConnections;
}

/** Events that neither close a connection nor decide what becomes of an arrival. */
type ConcernsNoArrival =
  | EventTypeOf<AccessNoun | ContentNoun | "project" | "branch" | "operation" | "span" | "fault">
  | WorldSettingType
  | "ComputeCreated"
  | "ComputeUpdated"
  | "ComputeActivated"
  | "ComputeResized"
  | "ComputeSuspendFailed"
  | "ActivityScheduled";
