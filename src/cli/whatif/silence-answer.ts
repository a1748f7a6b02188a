import {
  DayCounter,
  daysText,
  type RequestsByDay,
  suspectedSilences,
} from "../../traffic/recorded/trace/silence.ts";
import { eachPart, type Period } from "../../traffic/recorded/trace/trace.ts";
import type { TraceFile } from "../../traffic/recorded/trace-files/trace-file.ts";
import { omitDays, weeksAround } from "../../whatif/trace/omit-days.ts";
import type { Traffic } from "../../whatif/trace/traffic.ts";
import { CliError } from "../terminal/cli-error.ts";
import { trafficFromFile } from "./trace-files.ts";
import type { TraceOptions } from "./trace-options.ts";

/**
 * Handles days without any request that look like missing data. Throws an error that asks for `--silence` if the option
 * is absent: as idle time, such days would make every delay look cheaper than it is.
 */
export function silenceAnswer(
  file: TraceFile,
  { silence }: Pick<TraceOptions, "silence">,
): { readonly notes: readonly string[]; readonly traffic?: Traffic } | undefined {
  const traffic = trafficFromFile(file);
  const silences = suspectedSilences(file.origin.requestsByDay ?? requestsByDay(traffic));
  const [first] = silences;
  if (first === undefined) return undefined;
  const days = silences.map(daysText).join(", ");
  if (silence === "idle") return { notes: [`counted as idle time, without any request: ${days}`] };
  if (silence === undefined)
    throw new CliError(
      `no compute has a request on ${days}, but usual days have about ${Math.round(first.usualRequests).toLocaleString("en")}: pass --silence idle if the computes were idle, or --silence omit if data is missing`,
      true,
    );
  const omitted = weeksToOmit(silences, traffic.period);
  return {
    traffic: omitDays(traffic, omitted),
    notes: [
      `left out, because data is missing: ${omitted.map(daysText).join(", ")}; whole weeks, so that workdays stay workdays, and dates after them are earlier by their length`,
    ],
  };
}

function weeksToOmit(silences: readonly Period[], period: Period): readonly Period[] {
  const omitted: Period[] = [];
  for (const silence of silences) {
    const before = omitted.at(-1);
    if (before !== undefined && silence.endAt <= before.endAt) continue;
    const startAt = Math.max(silence.startAt, before?.endAt ?? 0);
    const weeks = weeksAround({ startAt, endAt: silence.endAt }, period);
    if (weeks === undefined || weeks.startAt < (before?.endAt ?? 0))
      throw new CliError(
        `--silence omit: the trace is too short to leave out whole weeks around ${daysText(silence)}; choose a part of it with --from and --to`,
        true,
      );
    omitted.push(weeks);
  }
  return omitted;
}

function requestsByDay(traffic: Traffic): RequestsByDay {
  const days = new DayCounter();
  for (const compute of traffic.computes.keys())
    eachPart(traffic.arrivals(compute), (part) => days.add(part));
  return days.counts;
}
