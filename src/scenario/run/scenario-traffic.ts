import * as z from "zod";
import type { Activity } from "../../platform/compute/activity.ts";
import { findConnection } from "../../platform/compute/connection.ts";
import type { DurationMs, SimTime } from "../../platform/core/time.ts";
import type { World } from "../../platform/core/world.ts";
import type { RecordedEvent } from "../../platform/events.ts";
import type { Refusal } from "../../platform/refusals.ts";
import { RecordedArrivals } from "../../recordings/recorded-arrivals.ts";
import type { Recorded } from "../../recordings/recorded-file.ts";
import { RECORDED_FIELDS, type RecordedField } from "../../recordings/rows/recorded-row.ts";
import type { Feed } from "../../simulation/feed.ts";
import { type Arrivals, NO_CONNECTION } from "../../traffic/arrivals.ts";
import { PATTERNS, patternWith } from "../../traffic/description.ts";
import { object } from "../../traffic/fields.ts";
import { MergedArrivals } from "../../traffic/merged.ts";
import { TrafficSources } from "../../traffic/sources.ts";
import type { Labels } from "../file/labels.ts";
import { when } from "../file/time-fields.ts";

const whose = {
  name: z.string().min(1).max(100).describe("names its stream of chance: adding a source changes no other"),
  to: z
    .union([z.string(), z.array(z.string()).min(1)])
    .describe("computes, or branches for their primaries; fleet-*/main means all of them, each with a stream of its own"),
  from: when.optional().describe("left out: from the start"),
  until: when.optional().describe("left out: to the end"),
};

const columns = Object.fromEntries(RECORDED_FIELDS.map((field) => [field, z.string().exactOptional()])) as Record<
  RecordedField,
  z.ZodExactOptional<z.ZodString>
>;

const replayed = object({
  ...whose,
  pattern: z.literal("replay").describe("what was recorded, as it was"),
  file: z.string().min(1).describe("beside this file: CSV, NDJSON, or a world's journal"),
  format: z.enum(["csv", "ndjson", "journal"]).optional().describe("left out: by the end of the file's name"),
  columns: object(columns).optional().describe("which column is what: at: start_time; what is not named is guessed"),
  computes: z.record(z.string(), z.string()).optional().describe("whom an endpoint of the recording stands for; others go to `to`"),
  align: z
    .enum(["start", "clock"])
    .default("start")
    .describe("start: the first one arrives when the source begins; clock: each at its own instant"),
});

const patterns = patternWith(whose);

/** Traffic by a pattern of `traffic/` or from a recording, and whom it hits when. */
export const scenarioTraffic = z.discriminatedUnion("pattern", [...patterns.options, replayed], {
  error: `must be one of ${[...PATTERNS, "replay"].join(", ")}`,
});
export type ScenarioTraffic = z.output<typeof scenarioTraffic>;
export type Replayed = z.output<typeof replayed>;
/** What is replayed, by the names of the sources. */
export type Recordings = ReadonlyMap<string, Recorded>;

/** Whether a source answers to what the world does: at the very instant, which only a world in this process can tell. */
export function isClosedLoop({ pattern }: Pick<ScenarioTraffic, "pattern">): boolean {
  return pattern === "health-check" || pattern === "subscriber";
}

type Bounds = {
  readonly seed: number;
  readonly start: SimTime;
  /** The world was taken back to this instant: what comes up to it, it included, has come already. Left out: nothing has. */
  readonly takenBackTo: SimTime | undefined;
  /** Where a source says nothing else, it ends here; what would come at this very instant does not come. */
  readonly end: SimTime | undefined;
  readonly instant: (when: NonNullable<ScenarioTraffic["from"]>) => SimTime;
  readonly recordings: Recordings;
  /** The world as it is: it knows which connections are open. */
  readonly world: () => World;
};
type Watchers = { readonly observe: (event: RecordedEvent) => void; readonly refused: (endpointId: string, at: SimTime) => void };

const OF_NO_SOURCE = -1;
/** Whose traffic it is that steps bring. */
export const STEP_SOURCE = "step";

/** What became of an arrival that a step had. */
export type Outcome = { readonly outcome: "served" | "waits" | "refused"; readonly waitedMs: DurationMs; readonly code?: string };

/** One stream of a source: a source that hits many computes has one for each. `open`: connections that it takes for open. */
type Stream = {
  readonly name: string;
  readonly endpointId: string;
  /** What the names of its connections begin with. */
  readonly connections: string;
  readonly open: Set<number>;
};

/** All traffic of a scenario as one feed, which also tells the run of what happens. */
export class TrafficFeed implements Feed {
  readonly #merged: MergedArrivals;
  readonly #streams: Stream[] = [];
  readonly #closedLoops = new Map<string, number[]>();
  readonly #watchers: Watchers;
  readonly #world: () => World;
  /** What steps have arrive, earliest first. */
  readonly #injected: { readonly at: SimTime; readonly activity: Activity }[] = [];
  #outcome: Outcome | undefined;
  /** The compute that the last one goes to. */
  #awaited: string | undefined;
  #isOver = false;
  #taken = OF_NO_SOURCE;
  #takenConnection = NO_CONNECTION;

  constructor(sources: readonly ScenarioTraffic[], labels: Labels, bounds: Bounds, watchers: Watchers) {
    this.#watchers = watchers;
    this.#world = bounds.world;
    const opened = sources.flatMap((source) => this.#open(source, labels, bounds));
    this.#merged = new MergedArrivals(opened);
    if (bounds.takenBackTo !== undefined) this.#dropAll(bounds.takenBackTo);
  }

  /** Nothing arrives any more: what plays comes to its end soon. */
  end(): void {
    this.#isOver = true;
  }

  get at(): SimTime {
    if (this.#isOver) return Number.POSITIVE_INFINITY;
    const [injected] = this.#injected;
    return injected === undefined ? this.#merged.at : Math.min(injected.at, this.#merged.at);
  }

  /** Has something arrive that is of no source. What comes at the same instant comes after it. */
  inject(at: SimTime, activity: Activity): void {
    const place = this.#injected.findIndex((other) => other.at > at);
    this.#injected.splice(place < 0 ? this.#injected.length : place, 0, { at, activity });
    this.#outcome = undefined;
    this.#awaited = activity.endpointId;
  }

  /** What became of what was injected last. */
  get outcome(): Outcome | undefined {
    return this.#outcome;
  }

  take(): Activity {
    const merged = this.#merged;
    const [injected] = this.#injected;
    if (injected !== undefined && injected.at <= merged.at) {
      this.#injected.shift();
      this.#taken = OF_NO_SOURCE;
      return injected.activity;
    }
    const stream = this.#streams[merged.source] as Stream;
    const { durationMs, queries, kind, connection } = merged;
    this.#taken = merged.source;
    this.#takenConnection = connection;
    merged.next();
    const activity: Activity = { endpointId: stream.endpointId, kind, durationMs, queries, source: stream.name };
    if (connection === NO_CONNECTION) return activity;
    if (kind === "connect") stream.open.add(connection);
    if (kind === "disconnect") stream.open.delete(connection);
    return { ...activity, connectionId: connectionId(stream, connection) };
  }

  observe(event: RecordedEvent): void {
    switch (event.type) {
      case "ComputeSuspending":
      case "ComputeSuspended":
      case "ComputeStartFailed":
      case "ComputeDeleted":
        this.#drop(event.endpointId, event.at);
        break;
      case "WorldReset":
        this.#dropAll(event.at);
        break;
      case "ActivityRecorded": {
        const { activity, waitedMs } = event;
        if (activity.kind === "disconnect") this.#drop(activity.endpointId, event.at);
        if (activity.source === STEP_SOURCE) this.#outcome = { outcome: waitedMs > 0 ? "waits" : "served", waitedMs };
        break;
      }
      case "ActivityDropped":
        // Where arrivals are told ahead, the world tells afterwards what it refused.
        if (event.endpointId === this.#awaited) this.#outcome ??= { outcome: "refused", waitedMs: 0, code: event.reason };
        break;
    }
    this.#watchers.observe(event);
  }

  refused(activity: Activity, { code }: Refusal, at: SimTime): void {
    if (activity.source === STEP_SOURCE) this.#outcome = { outcome: "refused", waitedMs: 0, code };
    const stream = this.#streams[this.#taken];
    // It may have been told by a call, and be of no source.
    if (stream !== undefined && stream.name === activity.source && this.#takenConnection !== NO_CONNECTION) {
      stream.open.delete(this.#takenConnection);
      this.#merged.closed(at, this.#takenConnection, this.#taken);
    }
    this.#watchers.refused(activity.endpointId, at);
  }

  #open(source: ScenarioTraffic, labels: Labels, bounds: Bounds): Arrivals[] {
    const { seed, start, takenBackTo, end, instant } = bounds;
    if (source.pattern === "replay") return this.#openRecorded(source, labels, bounds);
    const sources = new TrafficSources(seed);
    const from = source.from === undefined ? start : instant(source.from);
    const until = source.until === undefined ? end : instant(source.until);
    const computes = new Set([source.to].flat().flatMap((pattern) => labels.computes(pattern)));
    return [...computes].map(({ id, label }) => {
      const arrivals = sources.open(`${source.name}/${label}`, source, { from, until });
      const open = takeAll(arrivals, takenBackTo);
      const index = this.#streams.push({ name: source.name, endpointId: id, connections: source.name, open }) - 1;
      if (isClosedLoop(source)) this.#closedLoops.set(id, [...(this.#closedLoops.get(id) ?? []), index]);
      return arrivals;
    });
  }

  #openRecorded(source: Replayed, labels: Labels, { start, takenBackTo, end, instant, recordings }: Bounds): Arrivals[] {
    const recorded = recordings.get(source.name);
    if (recorded === undefined) throw new Error(`${source.file} was not read`);
    const from = source.from === undefined ? start : instant(source.from);
    const until = source.until === undefined ? end : instant(source.until);
    const first = Math.min(...[...recorded.endpoints.values()].map(({ at }) => at[0] ?? Number.POSITIVE_INFINITY));
    const shiftMs = source.align === "clock" ? 0 : from - first;
    const taken = new Set<string>();
    return [...recorded.endpoints].map(([endpoint, requests]) => {
      const [compute] = labels.computes(source.computes?.[endpoint] ?? [source.to].flat()[0] ?? endpoint);
      const endpointId = compute?.id ?? endpoint;
      // Where several endpoints of a recording become one compute, each has connections of its own.
      const connections = taken.has(endpointId) ? `${source.name}-${endpoint}` : source.name;
      taken.add(endpointId);
      const arrivals = new RecordedArrivals(requests, shiftMs, until);
      while (arrivals.at < from) arrivals.next();
      const open = takeAll(arrivals, takenBackTo);
      this.#streams.push({ name: source.name, endpointId, connections, open });
      return arrivals;
    });
  }

  #dropAll(at: SimTime): void {
    for (const endpointId of this.#closedLoops.keys()) this.#drop(endpointId, at);
  }

  /** Whoever takes a connection for open that is not, hears of it. One that waits for a start outlives the suspend before it. */
  #drop(endpointId: string, at: SimTime): void {
    for (const index of this.#closedLoops.get(endpointId) ?? []) {
      const stream = this.#streams[index] as Stream;
      for (const connection of [...stream.open]) {
        if (findConnection(this.#world(), endpointId, connectionId(stream, connection), at) !== undefined) continue;
        stream.open.delete(connection);
        this.#merged.closed(at, connection, index);
      }
    }
  }
}

function connectionId({ connections }: Stream, connection: number): string {
  return `${connections}-${connection}`;
}

/** Takes what comes up to an instant, it included; gives the connections that it opens. */
function takeAll(arrivals: Arrivals, until: SimTime = Number.NEGATIVE_INFINITY): Set<number> {
  const open = new Set<number>();
  for (; arrivals.at <= until; arrivals.next()) if (arrivals.kind === "connect") open.add(arrivals.connection);
  return open;
}
