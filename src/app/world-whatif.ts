import { setImmediate as nextTurn } from "node:timers/promises";
import type { AskWhatIf } from "../control-api/http/whatif-fields.ts";
import { isoInstant } from "../kernel/calendar.ts";
import type { SimTime } from "../kernel/time.ts";
import { randomFrom } from "../simulation/random.ts";
import { INSTANT_RULE, parseStrictInstant } from "../traffic/recorded/rows/instant.ts";
import {
  DEFAULTS,
  DELAY_RULE,
  LATENCY_RULE,
  MAX_REPLICATIONS,
  parseDelay,
  parseLatency,
  parseWorth,
  questionFrom,
  WORTH_RULE,
} from "../whatif/input/question.ts";
import { fleetGapsOf, needsFleetGaps, replayComputes } from "../whatif/input/replay-jobs.ts";
import { HISTORY_TRUNCATED, worldDefaults } from "../whatif/input/world-defaults.ts";
import { limitsFor } from "../whatif/page/page-layout.ts";
import { comparisonJobs, comparisonSteps } from "../whatif/questions/compare/comparison.ts";
import { ComputeComparison, replayByCompute } from "../whatif/questions/compare/compute-comparison.ts";
import { selectPeriod, type Traffic, trafficWithin } from "../whatif/trace/known-traffic.ts";
import { WorldTraffic } from "../whatif/trace/world-traffic.ts";
import { builtInProfile } from "../whatif/units/prices.ts";
import type { WorldHandle } from "../worlds/world-handle.ts";

/** Number of events after which other requests get a turn: a few milliseconds of work. */
const EVENTS_PER_READ = 500;
const STEPS_PER_YIELD = 5;
/** The results of all replays are held in memory until the last one is done. */
const MAX_REPLAYS = 20_000;

/**
 * Answers `POST /_sim/whatif` like `standin whatif compare` of this world. Yields to other requests
 * meanwhile.
 */
export const answerWhatIf: AskWhatIf = async (world, input) => {
  const {
    policies,
    from: fromText,
    to: toText,
    present: baseline,
    start_latency,
    cold_start_worth,
    replications = DEFAULTS.replications,
    profile,
    price_plan: pricePlan,
    by_compute: listedComputes,
    ...rest
  } = input;
  const from = parseField("from", fromText, parseStrictInstant, INSTANT_RULE);
  const to = parseField("to", toText, parseStrictInstant, INSTANT_RULE);
  if (rest.price !== undefined && (rest.prices !== undefined || pricePlan !== undefined))
    throw new RangeError("price: cannot be combined with prices or price_plan");
  const flags = {
    profile: profile === undefined ? undefined : builtInProfile(profile),
    pricePlan,
    present: parseField("present", baseline, parseDelay, DELAY_RULE),
    coldStartWorthS: parseField("cold_start_worth", cold_start_worth, parseWorth, WORTH_RULE),
    startLatency: parseField("start_latency", start_latency, parseLatency, LATENCY_RULE),
  };
  if (replications > MAX_REPLICATIONS)
    throw new RangeError(`replications: must be at most ${MAX_REPLICATIONS}`);
  const { traffic: allTraffic, setting, notes } = await readWorld(world, to);
  const traffic = clipTraffic(allTraffic, from, to);
  const question = questionFrom({ ...rest, ...flags }, setting);
  const jobs = comparisonJobs(policies, question, replications);
  if (jobs.length > MAX_REPLAYS)
    throw new RangeError(
      `policy, replications: need ${jobs.length} replays, but at most ${MAX_REPLAYS} are allowed; ask for fewer`,
    );
  if (traffic.computes.length === 0) {
    const when = to === undefined ? "yet" : `before ${isoInstant(to)}`;
    throw new RangeError(`no compute of this world was used ${when}, so there is no traffic to replay`);
  }
  const fleetGaps = needsFleetGaps(jobs) ? fleetGapsOf(traffic, question) : undefined;
  const all = { jobs, from: 0, to: traffic.computes.length, fleetGaps };
  const byCompute =
    listedComputes === undefined ? undefined : new ComputeComparison(traffic, question, jobs, listedComputes);
  const work =
    byCompute === undefined
      ? replayComputes(traffic, all, randomFrom)
      : replayByCompute(traffic, all, randomFrom, byCompute);
  const outcomes = await finished(work, STEPS_PER_YIELD);
  const comparison = await finished(comparisonSteps(traffic, question, jobs, outcomes), 1);
  const listed = byCompute === undefined ? undefined : await finished(byCompute.listed(), 1);
  const compared = comparison.policies.map((one) =>
    listed === undefined ? one : { ...one, by_compute: listed.get(one.policy) ?? [] },
  );
  return {
    ...comparison,
    policies: compared,
    limits: limitsFor(comparison.limits, false),
    input: { notes },
  };
};

/** The result of the work. Other requests are served after every `stepsPerYield` steps. */
async function finished<T>(work: Generator<unknown, T>, stepsPerYield: number): Promise<T> {
  for (let steps = 1, step = work.next(); ; steps += 1, step = work.next()) {
    if (step.done === true) return step.value;
    if (steps % stepsPerYield === 0) await nextTurn();
  }
}

/** The parsed value of a field. Throws a RangeError that names the field. */
function parseField<T>(
  field: string,
  text: string | undefined,
  parse: (text: string) => T | undefined,
  rule: string,
): T | undefined {
  const value = text === undefined ? undefined : parse(text);
  if (text !== undefined && value === undefined) throw new RangeError(`${field}: ${rule}`);
  return value;
}

async function readWorld(world: WorldHandle, until: SimTime | undefined) {
  const { now, settings, computes } = await world.transact((transaction) => ({
    now: transaction.now,
    settings: transaction.world.settings,
    computes: [...transaction.world.computes.values()],
  }));
  const collector = new WorldTraffic(until);
  let isTruncated = false;
  for (let since = 0; ; ) {
    const events = await world.events(since, EVENTS_PER_READ);
    isTruncated ||= since < world.history().forgottenSeq;
    for (const event of events) collector.add(event);
    const last = events.at(-1);
    if (last === undefined || events.length < EVENTS_PER_READ) break;
    since = last.seq;
    await nextTurn();
  }
  const traffic = collector.traffic(now);
  const metered = collector.usage(traffic.computes, traffic.period, now);
  const { setting, notes } = worldDefaults(settings, collector.computes(computes), traffic.computes, metered);
  return { traffic, setting, notes: isTruncated ? [HISTORY_TRUNCATED, ...notes] : notes };
}

function clipTraffic(traffic: Traffic, from: number | undefined, to: number | undefined): Traffic {
  const period = selectPeriod(traffic.period, { from, to });
  if (period === undefined) throw new RangeError("from, to: this world has no traffic in this period");
  return trafficWithin(traffic, period);
}
