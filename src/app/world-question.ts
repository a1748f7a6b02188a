import { setImmediate as nextTurn } from "node:timers/promises";
import { isoInstant } from "../kernel/calendar.ts";
import type { SimTime } from "../kernel/time.ts";
import { INSTANT_RULE, parseStrictInstant } from "../traffic/recorded/rows/instant.ts";
import {
  DELAY_RULE,
  LATENCY_RULE,
  parseDelay,
  parseLatency,
  parseWorth,
  type QuestionInput,
  WORTH_RULE,
  type WorldDefaults,
} from "../whatif/input/question.ts";
import { notesOnTraffic, worldDefaults } from "../whatif/input/world-defaults.ts";
import { ignoredSources } from "../whatif/trace/ignored-waits.ts";
import { selectPeriod, type Traffic, trafficWithin } from "../whatif/trace/traffic.ts";
import { WorldTraffic } from "../whatif/trace/world-traffic.ts";
import { builtInProfile } from "../whatif/units/prices.ts";
import type { WorldHandle } from "../worlds/world-handle.ts";

/** Number of events after which other requests get a turn: a few milliseconds of work. */
const EVENTS_PER_READ = 500;

/** The period of a question, and the settings that replace those of the world. */
type QuestionFields = {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly present?: string | undefined;
  readonly start_latency?: string | undefined;
  readonly cold_start_worth?: string | undefined;
  readonly ignore_waits_of?: readonly string[] | undefined;
  readonly profile?: Parameters<typeof builtInProfile>[0] | undefined;
};

/** The traffic of a world in the period of a question, and the settings of the world and of the question. */
export type WorldQuestion = {
  readonly traffic: Traffic;
  readonly setting: WorldDefaults;
  readonly notes: readonly string[];
  readonly flags: Pick<
    QuestionInput,
    "profile" | "present" | "coldStartWorthS" | "startLatency" | "ignoreWaitsOf"
  >;
};

/** Throws a RangeError that names an invalid field. Yields to other requests while it reads. */
export async function readWorldQuestion(world: WorldHandle, fields: QuestionFields): Promise<WorldQuestion> {
  const from = parseField("from", fields.from, parseStrictInstant, INSTANT_RULE);
  const to = parseField("to", fields.to, parseStrictInstant, INSTANT_RULE);
  const flags = {
    profile: fields.profile === undefined ? undefined : builtInProfile(fields.profile),
    present: parseField("present", fields.present, parseDelay, DELAY_RULE),
    coldStartWorthS: parseField("cold_start_worth", fields.cold_start_worth, parseWorth, WORTH_RULE),
    ignoreWaitsOf: fields.ignore_waits_of ?? [],
    startLatency: parseField("start_latency", fields.start_latency, parseLatency, LATENCY_RULE),
  };
  const { traffic, setting, notes } = await readWorld(world, to);
  // Rejects a source that no request has.
  ignoredSources(flags.ignoreWaitsOf, traffic.sources);
  return { traffic: clipTraffic(traffic, from, to), setting, notes, flags };
}

/** Throws a RangeError if there is nothing to replay. */
export function checkIsUsed(traffic: Traffic, to: string | undefined): void {
  if (traffic.computes.length > 0) return;
  const until = parseField("to", to, parseStrictInstant, INSTANT_RULE);
  const when = until === undefined ? "yet" : `before ${isoInstant(until)}`;
  throw new RangeError(`no compute of this world was used ${when}, so there is no traffic to replay`);
}

/** The parsed value of a field. Throws a RangeError that names the field. */
export function parseField<T>(
  field: string,
  text: string | undefined,
  parse: (text: string) => T | undefined,
  rule: string,
): T | undefined {
  const value = text === undefined ? undefined : parse(text);
  if (text !== undefined && value === undefined) throw new RangeError(`${field}: ${rule}`);
  return value;
}

/** The result of the work. Other requests are served after every `stepsPerYield` steps. */
export async function finished<T>(work: Generator<unknown, T>, stepsPerYield: number): Promise<T> {
  for (let steps = 1, step = work.next(); ; steps += 1, step = work.next()) {
    if (step.done === true) return step.value;
    if (steps % stepsPerYield === 0) await nextTurn();
  }
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
  return { traffic, setting, notes: [...notesOnTraffic(traffic, isTruncated), ...notes] };
}

function clipTraffic(traffic: Traffic, from: number | undefined, to: number | undefined): Traffic {
  const period = selectPeriod(traffic.period, { from, to });
  if (period === undefined) throw new RangeError("from, to: this world has no traffic in this period");
  return trafficWithin(traffic, period);
}
