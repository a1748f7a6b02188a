import { HOUR, type SimTime } from "../../../../kernel/time.ts";
import type { Profile } from "../../../catalog/defaults-and-limits.ts";
import { accept, type Result, refuse } from "../../../catalog/refusal-codes.ts";
import type { SizeRange } from "../../../catalog/sizes.ts";
import type { ActivePhase, Compute, LoadReading, RunningLoad, ScalingState } from "../../../model/compute.ts";
import type { Context } from "../../../model/context.ts";
import type { Event } from "../../../model/events.ts";
import { LoadAverage, loadUnits, NO_LOAD } from "../../../model/load-average.ts";
import { LoadReadingTimes } from "../../../model/load-reading-times.ts";
import type { SpanEvent } from "../../../model/span.ts";
import { goalSizeCu } from "./autoscaling-goal.ts";
import { readingsRescaleAt, sizeForReadings } from "./load-readings.ts";

// The size of a live compute follows the goal of its last reading. Loads are known from the activity that
// carries them; memory and working set are not known, so their terms of the goal are absent.

/** The name under which the load of an open span runs. No connection has it. */
const SPAN_CONNECTION = "#span";

/** How long an open span is expected to have its last known load, if no report follows. */
const LONGEST_EXPECTED_LOAD_MS = HOUR;

export function scales({ minCu, maxCu }: SizeRange): boolean {
  return minCu < maxCu;
}

/** A compute that starts at `startedAt` with these loads running. */
export function startScaling(
  startedAt: SimTime,
  running: readonly RunningLoad[],
  readingSeed: number | undefined,
): ScalingState {
  const times = new LoadReadingTimes(startedAt, readingSeed);
  return {
    average: NO_LOAD,
    running: running.filter((load) => isRead(load, times, 0)),
    resizedAt: startedAt,
    ...(readingSeed === undefined ? {} : { readingSeed }),
  };
}

/** Counts the readings before `at`, then adds a load that runs from `at` on. */
export function addLoad(
  startedAt: SimTime,
  scaling: ScalingState,
  load: RunningLoad,
  at: SimTime,
): ScalingState {
  const times = timesOf(startedAt, scaling);
  if (!isRead(load, times, times.lastBefore(at))) return scaling;
  const read = readUntil(times, scaling, at);
  return { ...read, running: [...read.running, load] };
}

/** Ends loads at `at`: those of a connection, or all. */
export function endLoads(
  startedAt: SimTime,
  scaling: ScalingState,
  at: SimTime,
  connectionId?: string,
): ScalingState {
  const isEnded = (load: RunningLoad) => connectionId === undefined || load.connectionId === connectionId;
  if (!scaling.running.some(isEnded)) return scaling;
  const read = readUntil(timesOf(startedAt, scaling), scaling, at);
  return { ...read, running: read.running.filter((load) => !isEnded(load)) };
}

/**
 * Counts the load of a span, which is known when the span ends or is divided. Earlier resizes stay as they are.
 * A: a span that continues has its last known load until the next report.
 */
export function endSpanLoad(
  startedAt: SimTime,
  scaling: ScalingState,
  { at, beganAt, until, load, continues }: SpanEvent & { type: "SpanEnded" },
): ScalingState {
  if (load === undefined)
    return continues === true ? scaling : endLoads(startedAt, scaling, until, SPAN_CONNECTION);
  const units = loadUnits(load);
  let counted = endLoads(startedAt, scaling, beganAt, SPAN_CONNECTION);
  counted = addLoad(startedAt, counted, { load: units, until }, beganAt);
  if (continues === true) {
    const expected = { load: units, until: until + LONGEST_EXPECTED_LOAD_MS, connectionId: SPAN_CONNECTION };
    counted = addLoad(startedAt, counted, expected, until);
  }
  return { ...counted, resizedAt: Math.max(counted.resizedAt, at) };
}

/** When the size of the compute changes next, if no other activity arrives. */
export function rescaleDueAt({ phase }: Compute, profile: Profile): SimTime | undefined {
  if (phase.state !== "active" || phase.suspending) return undefined;
  return phase.scaling === undefined
    ? readingsRescaleAt(phase, profile)
    : nextResize(phase, phase.scaling, profile)?.at;
}

/** R: automatic scaling causes no restart and no disconnect. */
export function decideRescale(compute: Compute, { now, profile }: Context): Result<Event[]> {
  const { phase } = compute;
  const dueAt = rescaleDueAt(compute, profile);
  if (phase.state !== "active" || dueAt === undefined || now < dueAt)
    return refuse("NOT_DUE", `a resize of ${compute.id} is not due`);
  if (phase.scaling === undefined)
    return accept(resizeForReadings(compute, phase, phase.readings, { now, profile }));
  const sizeCu = nextResize(phase, phase.scaling, profile)?.sizeCu ?? phase.sizeCu;
  return accept([{ type: "ComputeResized", at: now, endpointId: compute.id, sizeCu }]);
}

/** The event that resizes the compute as its load readings require; none if it has that size. */
export function resizeForReadings(
  compute: Compute,
  phase: ActivePhase,
  readings: readonly LoadReading[],
  { now, profile }: Pick<Context, "now" | "profile">,
): Event[] {
  const sizeCu = sizeForReadings(profile, phase.range, readings, now);
  return sizeCu === phase.sizeCu ? [] : [{ type: "ComputeResized", at: now, endpointId: compute.id, sizeCu }];
}

/** The first reading, not before the last resize, whose goal is not the current size. */
function nextResize(
  { startedAt, range, sizeCu }: ActivePhase,
  scaling: ScalingState,
  profile: Profile,
): { readonly at: SimTime; readonly sizeCu: number } | undefined {
  const times = timesOf(startedAt, scaling);
  const average = new LoadAverage(scaling.average);
  const goalFor = (load1: number) => goalSizeCu({ load1 }, range, profile);
  const seen = times.lastBefore(scaling.resizedAt);
  for (const { load, last } of loadsByReading(times, average.reading, scaling.running)) {
    if (average.reading < seen) average.count(load, Math.min(seen, last) - average.reading);
    const readings = average.readingsUntilOther(sizeCu, load, last - average.reading, goalFor);
    if (readings !== undefined)
      return {
        at: times.at(average.reading + readings),
        sizeCu: goalFor(average.load1After(load, readings)),
      };
    average.count(load, last - average.reading);
  }
  return undefined;
}

function timesOf(startedAt: SimTime, { readingSeed }: ScalingState): LoadReadingTimes {
  return new LoadReadingTimes(startedAt, readingSeed);
}

/** Counts the readings before `at` (exclusive), and drops loads that no later reading sees. */
function readUntil(times: LoadReadingTimes, scaling: ScalingState, at: SimTime): ScalingState {
  const average = new LoadAverage(scaling.average);
  const seen = times.lastBefore(at);
  for (const { load, last } of loadsByReading(times, average.reading, scaling.running)) {
    if (average.reading >= seen) break;
    average.count(load, Math.min(seen, last) - average.reading);
  }
  return {
    ...scaling,
    average: average.state,
    running: scaling.running.filter((load) => isRead(load, times, seen)),
  };
}

/** What the readings after number `after` see, up to number `last` (inclusive) each; finally no load. */
function* loadsByReading(times: LoadReadingTimes, after: number, running: readonly RunningLoad[]) {
  let load = running.reduce((sum, own) => sum + own.load, 0);
  let reading = after;
  for (const own of running.toSorted((a, b) => a.until - b.until)) {
    const last = times.lastBefore(own.until);
    if (last > reading) yield { load, last };
    reading = Math.max(reading, last);
    load -= own.load;
  }
  yield { load: 0, last: Number.POSITIVE_INFINITY };
}

/** Whether a reading after number `after` sees the load, which ends before the reading at its end. */
function isRead({ load, until }: RunningLoad, times: LoadReadingTimes, after: number): boolean {
  return load > 0 && times.lastBefore(until) > after;
}
