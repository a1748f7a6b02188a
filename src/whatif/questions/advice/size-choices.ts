import type { Random } from "../../../kernel/random-port.ts";
import type { DurationMs } from "../../../kernel/time.ts";
import type { Profile } from "../../../platform/catalog/defaults-and-limits.ts";
import type { SizeRange } from "../../../platform/catalog/sizes.ts";
import { eachPart } from "../../../traffic/recorded/trace/trace.ts";
import { sizeOf } from "../../gap-curve/costs.ts";
import type { Question } from "../../input/question.ts";
import type { Slo } from "../../input/slo.ts";
import type { Traffic } from "../../trace/traffic.ts";
import { plural } from "../../units/number-format.ts";
import { DEFAULT_SLO } from "../capacity/missed-share.ts";
import { USUAL_SIZES } from "../capacity/sufficient-size.ts";
import { type SizeOutcome, SizeReplays, type SizeTerms } from "./size-replays.ts";

/** The current sizes and the best other ones, or why sizes are not compared. */
export type SizeChoices =
  | {
      readonly slo: Slo;
      readonly current: SizeOutcome;
      /** The cheapest sufficient size for all computes. If the current size is sufficient, only a cheaper one. */
      readonly best: (SizeOutcome & { readonly range: SizeRange; readonly hasReserve: boolean }) | undefined;
    }
  | { readonly missing: string };

/**
 * A smaller size must be sufficient for this multiple of the load, because other days may be busier than the recorded
 * ones.
 */
const MORE_LOAD = 2;

/**
 * Replays the traffic under other sizes with the current delay. `startWaitMs`: the wait that the SLO is about, for
 * starts alone; undefined if it is not known. Yields the number of computes done, of each replay.
 */
export function* sizeChoices(
  traffic: Traffic,
  question: Question,
  terms: SizeTerms,
  startWaitMs: DurationMs | undefined,
  random: Random,
): Generator<number, SizeChoices> {
  const currentRanges = traffic.computes.map((_, compute) => currentRange(question, compute));
  const missing = unknownLoads(traffic, terms) ?? unknownSizes(currentRanges, terms.profile);
  if (missing !== undefined) return { missing };
  const { profile, slo } = terms;
  if (slo !== undefined && startWaitMs !== undefined && startWaitMs > slo.waitMs)
    return { missing: "waits for starts alone exceed the limit" };
  const sizes = profile.sizes.autoscaled;
  const largest = Math.max(USUAL_SIZES.maxCu, ...currentRanges.map(({ maxCu }) => maxCu));
  const replays = new SizeReplays(traffic, question, terms, random);
  const tryAll = function* (ranges: readonly SizeRange[], loadFactor?: number) {
    const outcomes = yield* replays.under(
      ranges.map((range) => () => range),
      loadFactor,
    );
    return outcomes.map((outcome, index) => ({ ...outcome, range: ranges[index] as SizeRange }));
  };
  const [current] = (yield* replays.under([(compute) => currentRanges[compute] as SizeRange])) as [
    SizeOutcome,
  ];
  const result = { slo: slo ?? DEFAULT_SLO, current };
  const isBetter = ({ isSufficient, cuMs }: SizeOutcome) =>
    isSufficient && (!current.isSufficient || cuMs < current.cuMs);
  const usual = rangesUpTo(sizes, largest);
  const larger = rangesUpTo(sizes, sizes.at(-1) ?? largest).slice(usual.length);
  let just: (SizeOutcome & { readonly range: SizeRange }) | undefined;
  // Larger sizes cost more, so they are replayed only if no other size is sufficient.
  for (const ranges of current.isSufficient ? [usual] : [usual, larger]) {
    const better = (yield* tryAll(ranges)).filter(isBetter).sort((a, b) => a.cuMs - b.cuMs);
    for (const one of better) {
      const [doubled] = yield* tryAll([one.range], MORE_LOAD);
      if (doubled?.isSufficient) return { ...result, best: { ...one, hasReserve: true } };
    }
    just ??= better[0];
  }
  const needed = current.isSufficient ? undefined : just;
  return { ...result, best: needed === undefined ? undefined : { ...needed, hasReserve: false } };
}

function currentRange({ scaling, costs }: Question, compute: number): SizeRange {
  const cu = sizeOf(costs, compute);
  return scaling?.ranges[compute] ?? { minCu: cu, maxCu: cu };
}

/** Fixed sizes and ranges from the smallest size on, in steps of a factor of two, by their largest size. */
function rangesUpTo([smallest = 0, ...others]: readonly number[], largest: number): readonly SizeRange[] {
  const steps = others.filter((cu) => cu <= largest && Number.isInteger(Math.log2(cu)));
  return [
    { minCu: smallest, maxCu: smallest },
    ...steps.flatMap((cu) => [
      { minCu: cu, maxCu: cu },
      { minCu: smallest, maxCu: cu },
    ]),
  ];
}

/**
 * Minimum share of the requests with a duration that must state a load. Others may be short, or lack a load by mistake.
 */
const MIN_SHARE_WITH_LOAD = 0.9;

function unknownLoads(traffic: Traffic, { loadPerRequest }: SizeTerms): string | undefined {
  const option = "(--load-per-request, or standin whatif capacity)";
  if (traffic.gapRows !== undefined) return "only the gaps between requests are known";
  let [used, unknown] = [0, 0];
  for (const compute of traffic.computes.keys()) {
    let [running, loaded] = [0, 0];
    let isStated = false;
    eachPart(traffic.arrivals(compute), ({ durationMs, load }) => {
      isStated ||= load !== undefined;
      for (let i = 0; i < durationMs.length; i += 1) {
        if ((durationMs[i] as DurationMs) === 0) continue;
        running += 1;
        if ((load?.[i] ?? 0) > 0) loaded += 1;
      }
    });
    if (running === 0) continue;
    used += 1;
    const isKnown = isStated ? loaded >= MIN_SHARE_WITH_LOAD * running : loadPerRequest !== undefined;
    if (!isKnown) unknown += 1;
  }
  if (used === 0) return "no request has a duration";
  if (unknown === 0) return undefined;
  return unknown === used
    ? `the requests state no load ${option}`
    : `the requests of ${plural(unknown, "compute")} state no load ${option}`;
}

function unknownSizes(ranges: readonly SizeRange[], { sizes }: Profile): string | undefined {
  const known = [...sizes.autoscaled, ...sizes.fixedOnly];
  const other = ranges.flatMap(({ minCu, maxCu }) => [minCu, maxCu]).find((cu) => !known.includes(cu));
  return other === undefined ? undefined : `${other} CU is not a size of the profile`;
}
