import type { Command, Option } from "commander";
import { isoInstant } from "../../platform/core/calendar.ts";
import { type Question, questionSummary } from "../../whatif/report/question.ts";
import type { OpenedTraces } from "./open-traffic.ts";

/** What flags came to that nobody has typed, by their names without dashes. */
export type ResolvedFlags = Readonly<Record<string, readonly (string | number)[]>>;

/** What a line is about, as far as it matters to what flags come to. */
type AnalyzedTraces = Pick<OpenedTraces, "traffic" | "target" | "world">;

/** What the flags that all questions have came to; what the world has told it tells again. */
export function resolvedQuestionFlags(question: Question, traces: AnalyzedTraces): ResolvedFlags {
  const { present_delay_s, profile, cu, price_per_cu_hour, start_latency, from_world } =
    questionSummary(question);
  const unlessFromWorld = (field: (typeof from_world)[number], value: string | number) =>
    from_world.includes(field) ? [] : [value];
  return {
    ...resolvedInputFlags(traces),
    present: unlessFromWorld("present", present_delay_s),
    profile: unlessFromWorld("profile", profile),
    price: price_per_cu_hour === null ? [] : [price_per_cu_hour],
    cu: unlessFromWorld("cu", cu),
    "start-latency": unlessFromWorld("start_latency", start_latency),
  };
}

/** A world goes on: its line says until when it was looked at. Beside traces, whatever names a world means nothing. */
export function resolvedInputFlags({ target, traffic: { period } }: AnalyzedTraces): ResolvedFlags {
  if (target === undefined) return { data: [], world: [], url: [] };
  const { data, world, url } = target;
  const where = url === undefined ? { data: [data], url: [] } : { data: [], url: [url] };
  return { ...where, world: [world], from: [isoInstant(period.startAt)], to: [isoInstant(period.endAt)] };
}

/** Where a report goes, what nobody else may read, and by how many threads the same answer was found. */
const OMITTED_FLAGS: readonly string[] = ["--out", "--control-token", "--workers"];

/** A command line that asks the same even where another release has other defaults, and where no environment says anything. */
export function repeatCommand(
  args: readonly string[],
  command: Command,
  resolvedFlags: ResolvedFlags,
): string {
  const isOmitted = (index: number) =>
    OMITTED_FLAGS.some(
      (flag) =>
        args[index] === flag || args[index]?.startsWith(`${flag}=`) === true || args[index - 1] === flag,
    );
  const typed = args.filter((_, index) => !isOmitted(index));
  const rest = command.options.flatMap((option) =>
    untypedValues(option, command, resolvedFlags).flatMap((value) => [option.long ?? "", String(value)]),
  );
  return ["standin", ...typed, ...rest].map(shellQuote).join(" ");
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

function shellQuote(text: string): string {
  return /^[\w./@:=,~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
