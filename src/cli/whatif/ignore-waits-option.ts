import type { Option } from "commander";
import { ignoredSources } from "../../whatif/trace/ignored-waits.ts";
import type { Traffic } from "../../whatif/trace/traffic.ts";
import { RepeatableOption } from "../terminal/options.ts";
import type { QuestionOptions } from "./question-options.ts";
import { usageErrorOf } from "./question-values.ts";

export function ignoreWaitsOption(): Option {
  return new RepeatableOption(
    "--ignore-waits-of <source>",
    "source of requests that nobody waits for, such as a health check: starts that they cause are billed but do not count as cold starts; repeatable",
  ).argParser((source: string, previous: readonly string[] | undefined) => [
    ...new Set([...(previous ?? []), source]),
  ]);
}

/** Rejects a source that no request has. */
export function checkIgnoredWaits(
  { ignoreWaitsOf = [] }: Pick<QuestionOptions, "ignoreWaitsOf">,
  { sources }: Pick<Traffic, "sources">,
): void {
  usageErrorOf(() => ignoredSources(ignoreWaitsOf, sources, "--ignore-waits-of"));
}
