import { setImmediate as nextTurn } from "node:timers/promises";
import type { AskWhatIf } from "./control/whatif.ts";
import { chanceFrom } from "./simulation/random.ts";
import { comparisonOf, jobsOf } from "./whatif/report/comparison.ts";
import { DEFAULTS, LATENCY_RULE, parseLatency, questionFrom } from "./whatif/report/question.ts";
import { asksFleet, fleetGapsOf, replayComputes } from "./whatif/report/replays.ts";
import { type Traffic, trafficWithin } from "./whatif/report/traffic.ts";
import { worldSetting } from "./whatif/report/world-setting.ts";
import { WorldTraffic } from "./whatif/report/world-traffic.ts";
import type { WorldHandle } from "./worlds/world-handle.ts";

const EVENTS_AT_ONCE = 5_000;
const STEPS_AT_ONCE = 50;

/** What `POST /_sim/whatif` answers: the same as `standin whatif compare` of this world. Others are served in between. */
export const answerWhatIf: AskWhatIf = async (world, asked) => {
  const { policies, from, to, start_latency, cold_start_worth_s: coldStartWorthS, replications = DEFAULTS.replications, ...rest } = asked;
  const startLatency = start_latency === undefined ? undefined : parseLatency(start_latency);
  if (start_latency !== undefined && startLatency === undefined) throw new RangeError(`start_latency: ${LATENCY_RULE}`);
  const { traffic: all, setting } = await readWorld(world);
  const traffic = between(all, from, to);
  const question = questionFrom({ ...rest, coldStartWorthS, startLatency }, setting);
  const jobs = jobsOf(policies, question, replications);
  if (traffic.computes.length === 0) throw new RangeError("nobody has used a compute of this world yet: there is no traffic to look at");
  const fleetGaps = asksFleet(jobs) ? fleetGapsOf(traffic) : undefined;
  const work = replayComputes(traffic, { jobs, from: 0, to: traffic.computes.length, fleetGaps }, chanceFrom);
  for (let steps = 1, step = work.next(); ; steps += 1, step = work.next()) {
    if (step.done === true) return comparisonOf(traffic, question, jobs, step.value);
    if (steps % STEPS_AT_ONCE === 0) await nextTurn();
  }
};

async function readWorld(world: WorldHandle) {
  const { now, settings, computes } = await world.turn((turn) => ({
    now: turn.now,
    settings: turn.world.settings,
    computes: [...turn.world.computes.values()],
  }));
  const reading = new WorldTraffic();
  for (let since = 0; ; ) {
    const events = await world.events(since, EVENTS_AT_ONCE);
    for (const event of events) reading.add(event);
    const last = events.at(-1);
    if (last === undefined || events.length < EVENTS_AT_ONCE) break;
    since = last.seq;
  }
  const traffic = reading.traffic(now);
  return { traffic, setting: worldSetting(settings, computes, traffic.computes).setting };
}

function between(traffic: Traffic, from: number | undefined, to: number | undefined): Traffic {
  const { startAt, endAt } = traffic.period;
  const period = { startAt: Math.max(startAt, from ?? startAt), endAt: Math.min(endAt, to ?? endAt) };
  if (period.startAt >= period.endAt) throw new RangeError("from, to: they leave nothing of what this world has seen");
  return trafficWithin(traffic, period);
}
