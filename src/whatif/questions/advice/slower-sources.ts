import type { Random } from "../../../kernel/random-port.ts";
import { type DurationMs, MINUTE, SECOND } from "../../../kernel/time.ts";
import { collectParts } from "../../../traffic/recorded/trace/trace.ts";
import { OutcomeMargins } from "../../held-out/outcome-margins.ts";
import type { Question } from "../../input/question.ts";
import { outcomeFigures } from "../../replay/figures.ts";
import { FixedReplay } from "../../replay/fixed-replay.ts";
import { emptyOutcomeByDay, type ReplayOutcome } from "../../replay/replay-outcome.ts";
import { loadSizesOf } from "../../sizes/scaling-computes.ts";
import { ignoredSources } from "../../trace/ignored-waits.ts";
import type { PeriodicSource } from "../../trace/periodic-sources.ts";
import { type Spacing, spacedArrivals } from "../../trace/spaced-arrivals.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { StartLatencies } from "../../units/start-latency.ts";
import { attributedSetting, type SavingMargins, savingMargins } from "../attribution/attribution-report.ts";

/** Savings of a program on a timer with a longer interval, over the period. */
export type SlowerSource = {
  readonly source: string;
  readonly everyMs: DurationMs;
  readonly newEveryMs: DurationMs;
  readonly savesDollars: number;
  readonly moreColdStarts: number;
  /** Margins of the savings; null without intervals. */
  readonly margins: Pick<SavingMargins, "saves_cost" | "more_cold_starts"> | null;
  /** 99th percentile of the wait over all requests. */
  readonly waitP99Ms: DurationMs;
};

/** Most sources; each takes a replay of the traffic. */
const MAX_SOURCES = 24;

/** Intervals that people set, in minutes. */
const ROUND_MINUTES = [10, 15, 20, 30, 60, 120, 180, 360, 720, 1_440];
/** Ratio of an interval to the delay, so that the compute suspends between two requests. */
const MARGIN = 1.1;

/**
 * The shortest round interval that lets all computes suspend between two requests; undefined if it is not longer than
 * the current one.
 */
export function slowerInterval(question: Question, everyMs: DurationMs): DurationMs | undefined {
  const { currentDelay, ownDelays = [] } = question;
  const finite = (currentDelay === "own" ? ownDelays : [currentDelay]).filter((delay) => delay !== "never");
  // Autosuspend is off for every compute.
  if (finite.length === 0) return undefined;
  const leastMs = MARGIN * Math.max(...finite) * SECOND;
  const ms = ROUND_MINUTES.map((minutes) => minutes * MINUTE).find((one) => one >= leastMs);
  return ms !== undefined && ms > everyMs ? ms : undefined;
}

/** New intervals of the programs that keep computes active and would not with a longer interval. */
export function spacingsOf(
  { sources }: Pick<Traffic, "sources">,
  question: Question,
  periodic: readonly PeriodicSource[],
): readonly Spacing[] {
  return periodic.slice(0, MAX_SOURCES).flatMap(({ source, everyMs }) => {
    const newEveryMs = slowerInterval(question, everyMs);
    return newEveryMs === undefined ? [] : [{ source: sources.indexOf(source), everyMs, newEveryMs }];
  });
}

/** Replays the longer intervals under the current delay. Yields the number of computes done. */
export function* slowerSources(
  traffic: Traffic,
  question: Question,
  periodic: readonly PeriodicSource[],
  random: Random,
): Generator<number, readonly SlowerSource[]> {
  const { period, sources } = traffic;
  const spacings = spacingsOf(traffic, question, periodic);
  if (spacings.length === 0) return [];
  const delay = question.currentDelay === "own" ? 0 : question.currentDelay;
  const ignored = ignoredSources(question.ignoredWaits, sources);
  const replayOf = () => new FixedReplay(period, delay, emptyOutcomeByDay(period));
  const now = replayOf();
  const changed = spacings.map((spacing) => ({ spacing, replay: replayOf() }));
  for (const number of traffic.computes.keys()) {
    const own = collectParts(traffic.arrivals(number));
    const latencies = new StartLatencies(question.latency, random, number);
    const add = (replay: FixedReplay, arrivals: typeof own) => {
      const sizes = loadSizesOf(question.scaling, number, random);
      replay.begin(latencies, { ...attributedSetting(question, number, ignored), sizes });
      replay.add(arrivals);
      replay.end();
    };
    add(now, own);
    for (const { spacing, replay } of changed) add(replay, spacedArrivals(own, spacing));
    yield number + 1;
  }
  const margins = OutcomeMargins.of(period);
  return changed.map(({ spacing, replay }) =>
    slowerSource(traffic, question, spacing, now.outcome, replay.outcome, margins),
  );
}

function slowerSource(
  { period, sources }: Traffic,
  { costs }: Question,
  { source, everyMs, newEveryMs }: Spacing,
  now: ReplayOutcome,
  changed: ReplayOutcome,
  margins: ReturnType<typeof OutcomeMargins.of>,
): SlowerSource {
  const periodMs = period.endAt - period.startAt;
  const [before, after] = [outcomeFigures(now, periodMs, costs), outcomeFigures(changed, periodMs, costs)];
  return {
    source: sources[source] ?? "",
    everyMs,
    newEveryMs,
    savesDollars: before.cost - after.cost,
    moreColdStarts: after.cold_starts - before.cold_starts,
    margins: "missing" in margins ? null : savingMargins(now, changed, margins, costs),
    waitP99Ms: after.wait_p99_ms,
  };
}
