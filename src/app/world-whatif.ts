import { setImmediate as nextTurn } from "node:timers/promises";
import type { AskWhatIf } from "../control/routes/whatif.ts";
import { isoInstant } from "../platform/core/calendar.ts";
import type { SimTime } from "../platform/core/time.ts";
import { INSTANT_RULE, parseStrictInstant } from "../recordings/rows/instant.ts";
import { chanceFrom } from "../simulation/random.ts";
import { comparisonOf, jobsOf } from "../whatif/compare/comparison.ts";
import { asksFleet, fleetGapsOf, replayComputes } from "../whatif/replay/replay-jobs.ts";
import {
  DEFAULTS,
  DELAY_RULE,
  LATENCY_RULE,
  MOST_REPLICATIONS,
  parseDelay,
  parseLatency,
  parseWorth,
  questionFrom,
  WORTH_RULE,
} from "../whatif/report/question.ts";
import { FORGOTTEN, worldSetting } from "../whatif/report/world-defaults.ts";
import { periodAsked, type Traffic, trafficWithin } from "../whatif/trace/known-traffic.ts";
import { WorldTraffic } from "../whatif/trace/world-traffic.ts";
import type { WorldHandle } from "../worlds/world-handle.ts";

const EVENTS_AT_ONCE = 5_000;
const STEPS_AT_ONCE = 50;
/** Each is held in memory until all are done, and this server has others to serve. */
const MOST_REPLAYS = 20_000;

/** What `POST /_sim/whatif` answers: the same as `standin whatif compare` of this world. Others are served in between. */
export const answerWhatIf: AskWhatIf = async (world, asked) => {
  const {
    policies,
    from: fromText,
    to: toText,
    present,
    start_latency,
    cold_start_worth,
    replications = DEFAULTS.replications,
    ...rest
  } = asked;
  const from = understood("from", fromText, parseStrictInstant, INSTANT_RULE);
  const to = understood("to", toText, parseStrictInstant, INSTANT_RULE);
  const flags = {
    present: understood("present", present, parseDelay, DELAY_RULE),
    coldStartWorthS: understood("cold_start_worth", cold_start_worth, parseWorth, WORTH_RULE),
    startLatency: understood("start_latency", start_latency, parseLatency, LATENCY_RULE),
  };
  if (replications > MOST_REPLICATIONS) throw new RangeError(`replications: must be at most ${MOST_REPLICATIONS}`);
  const { traffic: all, setting, notes } = await readWorld(world, to);
  const traffic = between(all, from, to);
  const question = questionFrom({ ...rest, ...flags }, setting);
  const jobs = jobsOf(policies, question, replications);
  if (jobs.length > MOST_REPLAYS)
    throw new RangeError(`policy, replications: they come to ${jobs.length} replays, and ${MOST_REPLAYS} are made at most`);
  if (traffic.computes.length === 0) {
    const when = to === undefined ? "yet" : `before ${isoInstant(to)}`;
    throw new RangeError(`nobody has used a compute of this world ${when}: there is no traffic to look at`);
  }
  const fleetGaps = asksFleet(jobs) ? fleetGapsOf(traffic, question.goneAt) : undefined;
  const work = replayComputes(traffic, { jobs, from: 0, to: traffic.computes.length, fleetGaps }, chanceFrom);
  for (let steps = 1, step = work.next(); ; steps += 1, step = work.next()) {
    if (step.done === true) return { ...comparisonOf(traffic, question, jobs, step.value), input: { notes } };
    if (steps % STEPS_AT_ONCE === 0) await nextTurn();
  }
};

/** A flag's meaning. Throws a RangeError that names the field. */
function understood<T>(field: string, text: string | undefined, parse: (text: string) => T | undefined, rule: string): T | undefined {
  const value = text === undefined ? undefined : parse(text);
  if (text !== undefined && value === undefined) throw new RangeError(`${field}: ${rule}`);
  return value;
}

async function readWorld(world: WorldHandle, until: SimTime | undefined) {
  const { now, settings, computes } = await world.turn((turn) => ({
    now: turn.now,
    settings: turn.world.settings,
    computes: [...turn.world.computes.values()],
  }));
  const reading = new WorldTraffic(until);
  let isForgotten = false;
  for (let since = 0; ; ) {
    const events = await world.events(since, EVENTS_AT_ONCE);
    isForgotten ||= since < world.history().forgottenSeq;
    for (const event of events) reading.add(event);
    const last = events.at(-1);
    if (last === undefined || events.length < EVENTS_AT_ONCE) break;
    since = last.seq;
  }
  const traffic = reading.traffic(now);
  const { setting, notes } = worldSetting(settings, reading.computes(computes), traffic.computes);
  return { traffic, setting, notes: isForgotten ? [FORGOTTEN, ...notes] : notes };
}

function between(traffic: Traffic, from: number | undefined, to: number | undefined): Traffic {
  const period = periodAsked(traffic.period, { from, to });
  if (period === undefined) throw new RangeError("from, to: they leave nothing of what this world has seen");
  return trafficWithin(traffic, period);
}
