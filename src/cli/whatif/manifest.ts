import type { Command, Option } from "commander";
import { isoInstant } from "../../kernel/calendar.ts";
import type { Question } from "../../whatif/input/question.ts";
import { questionSummary } from "../../whatif/input/question-summary.ts";
import type { OpenedTraces } from "./open-traffic.ts";

/** Effective values of flags that were not on the command line, by name without dashes. */
export type ResolvedFlags = Readonly<Record<string, readonly (string | number)[]>>;

/** The part of the input that determines default values. */
type AnalyzedTraces = Pick<OpenedTraces, "traffic" | "target" | "world">;

/** Content of the manifest of a question. `ownFlags`: effective values of the flags of its command. */
export function questionManifest(question: Question, traces: AnalyzedTraces, ownFlags: ResolvedFlags = {}) {
  return {
    resolvedFlags: { ...resolvedQuestionFlags(question, traces), ...ownFlags },
    question: questionSummary(question),
  };
}

/**
 * Effective values of the flags that all questions share. Values taken from a world are omitted: the world
 * supplies them again.
 */
export function resolvedQuestionFlags(question: Question, traces: AnalyzedTraces): ResolvedFlags {
  const { present_delay_s, profile, plan, cu, price_list, price_plan, start_latency, from_world, ...rest } =
    questionSummary(question);
  const unlessFromWorld = (field: (typeof from_world)[number], value: string | number) =>
    from_world.includes(field) ? [] : [value];
  return {
    ...resolvedInputFlags(traces),
    present: unlessFromWorld("present", present_delay_s),
    profile: unlessFromWorld("profile", profile),
    plan: [plan],
    prices: price_list === null ? [] : [price_list],
    "price-plan": price_plan === null ? [] : [price_plan],
    cu: unlessFromWorld("cu", cu),
    "start-latency": unlessFromWorld("start_latency", start_latency),
    // The default worth of a cold start does not apply, and both options together are an error.
    ...(rest.wait_worth_dollars_per_hour === undefined ? {} : { "cold-start-worth": [] }),
  };
}

/**
 * A world keeps changing, so its period is recorded. For trace files, the flags that name a world do not
 * apply.
 */
export function resolvedInputFlags({ target, traffic: { period } }: AnalyzedTraces): ResolvedFlags {
  if (target === undefined) return { data: [], world: [], url: [] };
  const { data, world, url } = target;
  const where = url === undefined ? { data: [data], url: [] } : { data: [], url: [url] };
  return { ...where, world: [world], from: [isoInstant(period.startAt)], to: [isoInstant(period.endAt)] };
}

/** Flags that have no influence on the result, or contain secrets. */
const OMITTED_FLAGS: readonly string[] = [
  "--out",
  "--control-token",
  "--workers",
  "--shard",
  "--queue",
  "--queue-key-file",
  "--insecure",
  "--parts",
];
/** Flags of `OMITTED_FLAGS` without a value. */
const OMITTED_SWITCHES: readonly string[] = ["--insecure"];

/** A command line that repeats the question with every default and environment variable spelled out. */
export function repeatCommand(
  args: readonly string[],
  command: Command,
  resolvedFlags: ResolvedFlags,
): string {
  return ["standin", ...repeatArgs(args, command, resolvedFlags)].map(shellQuote).join(" ");
}

/** The arguments of that command line. */
export function repeatArgs(
  args: readonly string[],
  command: Command,
  resolvedFlags: ResolvedFlags,
): readonly string[] {
  const isOmitted = (index: number) =>
    OMITTED_FLAGS.some(
      (flag) =>
        args[index] === flag ||
        args[index]?.startsWith(`${flag}=`) === true ||
        (args[index - 1] === flag && !OMITTED_SWITCHES.includes(flag)),
    );
  const typed = args.filter((_, index) => !isOmitted(index));
  const rest = command.options.flatMap((option) =>
    untypedValues(option, command, resolvedFlags).flatMap((value) => [option.long ?? "", String(value)]),
  );
  return [...typed, ...rest];
}

function untypedValues(
  option: Option,
  command: Command,
  resolvedFlags: ResolvedFlags,
): readonly (string | number)[] {
  const source = command.getOptionValueSource(option.attributeName());
  if (source === "cli" || OMITTED_FLAGS.includes(option.long ?? "")) return [];
  const own = resolvedFlags[option.name()];
  if (own !== undefined) return own;
  if (source === "env") return [command.getOptionValue(option.attributeName())];
  return option.defaultValue === undefined ? [] : [option.defaultValueDescription ?? option.defaultValue];
}

export function shellQuote(text: string): string {
  return /^[\w./@%:=,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
