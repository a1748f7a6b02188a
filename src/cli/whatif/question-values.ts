import type { SuspendDelay } from "../../whatif/gap-curve/delay.ts";
import {
  DELAY_RULE,
  LATENCY_RULE,
  parseDelay,
  parseLatency,
  parseWorth,
  WORTH_RULE,
} from "../../whatif/input/question.ts";
import { parseSlo, SLO_RULE, type Slo, sloSource } from "../../whatif/input/slo.ts";
import type { Traffic } from "../../whatif/trace/traffic.ts";
import type { StartLatency } from "../../whatif/units/start-latency.ts";
import { CliError } from "../terminal/cli-error.ts";
import { invalidValue } from "../terminal/usage-errors.ts";

/** Cost of a cold start in dollars. */
export type StartCost = { readonly dollars: number };

/** Whole seconds, a duration such as `5m`, or `never`. */
export function parseDelayOption(text: string): SuspendDelay {
  const parsed = parseDelay(text);
  if (parsed !== undefined) return parsed;
  throw invalidValue(DELAY_RULE);
}

/** For a repeatable option; drops duplicates. */
export function addDelayOption(
  text: string,
  previous: readonly SuspendDelay[] | undefined,
): readonly SuspendDelay[] {
  return [...new Set([...(previous ?? []), parseDelayOption(text)])];
}

export function numberAbove(minimum: number) {
  return (text: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value > minimum) return value;
    throw invalidValue(`a number above ${minimum}`);
  };
}

export function numberAtLeast(minimum: number) {
  return (text: string): number => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value >= minimum) return value;
    throw invalidValue(`a number, at least ${minimum}`);
  };
}

/** A share, as a percentage or a number: 0.1% is 0.001. */
export function parseShareOption(text: string): number {
  const isPercentage = text.endsWith("%");
  const value = numberAtLeast(0)(isPercentage ? text.slice(0, -1) : text) / (isPercentage ? 100 : 1);
  if (value < 1) return value;
  throw invalidValue("a share below 1, such as 0.1% or 0.001");
}

export function parseSloOption(text: string): Slo {
  const slo = parseSlo(text);
  if (slo !== undefined) return slo;
  throw invalidValue(SLO_RULE);
}

/** Rejects an SLO for a source that no request has. */
export function checkSloSource(slo: Slo | undefined, { sources }: Pick<Traffic, "sources">): void {
  usageErrorOf(() => sloSource(slo, sources, "--slo"));
}

/** Runs a check whose RangeErrors are about what was typed. */
export function usageErrorOf(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    if (error instanceof RangeError) throw new CliError(error.message, true);
    throw error;
  }
}

export function parseCpuShareOption(text: string): number {
  const isPercentage = text.endsWith("%");
  const value = numberAtLeast(0)(isPercentage ? text.slice(0, -1) : text) / (isPercentage ? 100 : 1);
  if (value > 0 && value <= 1) return value;
  throw invalidValue("a share above 0 and at most 1, such as 50% or 0.5");
}

export function parseWholeSecondsOption(text: string): number {
  const seconds = parseWorth(text);
  if (seconds !== undefined) return seconds;
  throw invalidValue(WORTH_RULE);
}

export function parseStartWorthOption(text: string): number | StartCost {
  const seconds = parseWorth(text);
  if (seconds !== undefined) return seconds;
  const dollars = /^(\d+(?:\.\d+)?)usd$/.exec(text)?.[1];
  if (dollars !== undefined) return { dollars: Number(dollars) };
  throw invalidValue(`${WORTH_RULE}, or dollars like 0.01usd`);
}

export function parseLatencyOption(text: string): StartLatency {
  const parsed = parseLatency(text);
  if (parsed !== undefined) return parsed;
  throw invalidValue(LATENCY_RULE);
}
