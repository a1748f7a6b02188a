import { DAY, HOUR, MINUTE, SECOND } from "../../kernel/time.ts";
import type { DelayChoice } from "../gap-curve/delay.ts";

/** At most three significant digits, with thousands separators. */
export function amount(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return threeDigits(value);
  const digits = Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 0.1 ? 2 : 4;
  return value.toLocaleString("en", {
    minimumFractionDigits: Math.min(digits, 2),
    maximumFractionDigits: digits,
  });
}

/** Half the width of an interval; null or undefined without one. */
type Margin = number | null | undefined;

/** Half the width of an interval, with at most two significant digits. */
export function amountMargin(margin: number): string {
  return margin.toLocaleString("en", { maximumSignificantDigits: 2 });
}

export function moneyMargin(margin: number): string {
  return `$${amountMargin(margin)}`;
}

/** The margin, formatted to precede "a month" in the note of a key figure. */
export function monthNote(margin: Margin): string {
  return margin === null || margin === undefined || margin === 0
    ? "a month"
    : `± ${moneyMargin(margin)} a month`;
}

function waitMargin(ms: number): string {
  return ms < 1_000 ? `${amountMargin(ms)} ms` : `${amountMargin(ms / 1_000)} s`;
}

function withMargin(figure: string, margin: Margin, show = amountMargin): string {
  return margin === null || margin === undefined || margin === 0 ? figure : `${figure} ± ${show(margin)}`;
}

export function amountWithMargin(value: number, margin: Margin): string {
  return withMargin(amount(value), margin);
}

/** Cold starts a day. `atMost`: upper limit if none were recorded, because that does not rule out later ones. */
export function startsWithMargin(value: number, margin: Margin, atMost: number | undefined): string {
  return value === 0 && atMost !== undefined
    ? `0 (at most ${amount(atMost)})`
    : amountWithMargin(value, margin);
}

export function signedWithMargin(difference: number, margin: Margin): string {
  return withMargin(signed(difference), margin);
}

export function moneyWithMargin(dollars: number, margin: Margin): string {
  return withMargin(money(dollars), margin, moneyMargin);
}

/** Formats amounts below a cent. */
export function smallMoneyWithMargin(dollars: number, margin: Margin): string {
  return withMargin(smallMoney(dollars), margin, moneyMargin);
}

export function waitWithMargin(ms: number, margin: Margin): string {
  return withMargin(millisText(ms), margin, waitMargin);
}

/** The margin is in percentage points. */
export function percentWithMargin(percent: number | null, margin: Margin): string {
  if (percent === null) return "–";
  if (margin === null || margin === undefined || margin === 0) return percentOf(percent, 100);
  return `${signedWithMargin(percent, margin)} %`;
}

/** A gain in percent, printed as the change of the weighted cost: a gain of 5 is −5 %. */
export function gainText(gainPercent: number | null, margin?: Margin): string {
  return percentWithMargin(gainPercent === null ? null : -gainPercent, margin);
}

/** For charts: three significant digits, with thousands separators. */
export function threeDigits(value: number): string {
  return value.toLocaleString("en", { maximumSignificantDigits: 3 });
}

/** Three significant digits, for charts. */
export function threeDigitMoney(dollars: number): string {
  return `${dollars < 0 ? "−" : ""}$${threeDigits(Math.abs(dollars))}`;
}

/** At most three significant digits; below $10 with cents. */
export function money(dollars: number): string {
  const size = Math.abs(dollars);
  const digits = size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  const text = size.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    ...(size >= 99.95 ? { maximumSignificantDigits: 3 } : {}),
  });
  return `${dollars < 0 ? "−" : ""}$${text}`;
}

/** Fractions of a cent with two significant digits. */
export function smallMoney(dollars: number): string {
  return dollars > 0 && dollars < 0.1 ? `$${Number(dollars.toPrecision(2))}` : money(dollars);
}

/** Not rounded. */
export function exactMoney(dollars: number): string {
  return `$${dollars.toLocaleString("en", { maximumFractionDigits: 6 })}`;
}

/** A signed percentage. A base of zero has none: then "new" or "gone". */
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

/** A phrase to follow "with" in a sentence. */
export function currentDelayPhrase(delay: DelayChoice): string {
  if (delay === "own") return "the computes' current delays";
  return delay === "never"
    ? "the current setting (autosuspend off)"
    : `the current delay of ${delayText(delay)}`;
}

/** A phrase to follow "with" in a sentence. */
export function delayPhrase(delay: DelayChoice): string {
  if (delay === "own") return "each compute's own delay";
  return delay === "never" ? "autosuspend off" : `a delay of ${delayText(delay)}`;
}

/** Exact text of a delay. Below ten minutes in seconds, unless it is whole minutes. */
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

/** Approximate text in the largest unit that fits at least twice. */
export function spanText(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => seconds >= 2 * length) ?? ["s", 1];
  return `${amount(seconds / size)} ${unit}`;
}

export function millisText(ms: number): string {
  return ms < 1_000 ? `${amount(Math.round(ms * 10) / 10)} ms` : `${amount(ms / 1_000)} s`;
}

/** Text for the axis of a chart. */
export function tickMillis(ms: number): string {
  return ms < 1_000 ? `${threeDigits(ms)} ms` : `${threeDigits(ms / 1_000)} s`;
}

/** A whole number with all of its digits. */
export function countText(count: number): string {
  return count.toLocaleString("en");
}

export function plural(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? "" : "s"}`;
}
