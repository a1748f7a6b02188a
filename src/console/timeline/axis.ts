import { formatDate, formatTime } from "../state/format.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
  91 * DAY,
  182 * DAY,
  364 * DAY,
];
const MIN_TICK_PX = 84;

export type Tick = { readonly at: number; readonly label: string; readonly isDate: boolean };

/** Round instants of a period, with room for their labels. Every midnight is labelled with its date. */
export function ticks(from: number, to: number, widthPx: number): Tick[] {
  const wanted = ((to - from) * MIN_TICK_PX) / Math.max(widthPx, 1);
  const step = STEPS.find((candidate) => candidate >= wanted) ?? (STEPS.at(-1) as number);
  const list: Tick[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const isDate = at % DAY === 0;
    list.push({ at, isDate, label: isDate ? formatDate(at) : label(at, step) });
  }
  return list;
}

function label(at: number, step: number): string {
  const time = formatTime(at);
  if (step < SECOND) return time.padEnd(9, ".").slice(0, 10);
  return step < MINUTE ? time.slice(0, 8) : time.slice(0, 5);
}
