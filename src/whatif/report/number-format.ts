import { DAY, HOUR, MINUTE, SECOND } from "../../platform/core/time.ts";
import type { DelayChoice } from "../curve/curve.ts";

/** About three significant digits, with thousands separators. */
export function amount(value: number): string {
  const size = Math.abs(value);
  const digits = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4;
  return value.toLocaleString("en", {
    minimumFractionDigits: Math.min(digits, 2),
    maximumFractionDigits: digits,
  });
}

/** For charts: three significant digits, with thousands separators. */
export function threeDigits(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** For charts. */
export function threeDigitMoney(dollars: number): string {
  return `${dollars < 0 ? "−" : ""}$${threeDigits(Math.abs(dollars))}`;
}

export function money(dollars: number): string {
  const digits = Math.abs(dollars) >= 1_000 ? 0 : 2;
  const text = Math.abs(dollars).toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return `${dollars < 0 ? "−" : ""}$${text}`;
}

/** With a sign. There is no percentage of zero: then "new" or "gone". */
export function percentOf(difference: number, base: number): string {
  if (difference === 0) return "±0 %";
  if (base === 0) return difference > 0 ? "new" : "gone";
  return signed((difference / base) * 100, (value) => `${amount(value)} %`);
}

export function signed(value: number, show: (size: number) => string = amount): string {
  if (value === 0) return "±0";
  return `${value > 0 ? "+" : "−"}${show(Math.abs(value))}`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["d", DAY / SECOND],
  ["h", HOUR / SECOND],
  ["min", MINUTE / SECOND],
  ["s", 1],
];

/** Within a sentence, after "with". */
export function currentDelayPhrase(delay: DelayChoice): string {
  if (delay === "own") return "the computes' current delays";
  return delay === "never"
    ? "the current setting (autosuspend off)"
    : `the current delay of ${delayText(delay)}`;
}

/** Within a sentence, after "with". */
export function delayPhrase(delay: DelayChoice): string {
  if (delay === "own") return "each compute's own delay";
  return delay === "never" ? "autosuspend off" : `a delay of ${delayText(delay)}`;
}

/** Exact. Below ten minutes in seconds unless it is whole minutes. */
export function delayText(delay: DelayChoice): string {
  if (delay === "own") return "own delays";
  if (delay === "never") return "never";
  if (delay < 600 && delay % 60 !== 0) return `${delay} s`;
  const parts: string[] = [];
  let rest = delay;
  for (const [unit, seconds] of UNITS) {
    const whole = Math.floor(rest / seconds);
    rest -= whole * seconds;
    if (whole > 0) parts.push(`${whole} ${unit}`);
  }
  return parts.join(" ") || "0 s";
}

/** Approximate, in the largest unit of which there are at least two. */
export function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ["s", 1];
  return `${amount(seconds / size)} ${unit}`;
}

export function millisText(ms: number): string {
  return ms < 1_000 ? `${amount(Math.round(ms * 10) / 10)} ms` : `${amount(ms / 1_000)} s`;
}

/** For the axis of a chart. */
export function tickMillis(ms: number): string {
  return ms < 1_000 ? `${threeDigits(ms)} ms` : `${threeDigits(ms / 1_000)} s`;
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
