import { computed, signal } from "@preact/signals";
import { showsRun } from "../client/mode.ts";
import { now, shownNow } from "./world.ts";

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
/** Shortest and longest period on screen, in milliseconds. */
const SHORTEST = 2_000;
const LONGEST = 3 * 365 * DAY;
/** The share of the width right of "now", where what is due next is shown. */
const AHEAD = 0.12;

/** Length of the period on screen. */
export const spanMs = signal(showsRun ? HOUR / 4 : HOUR);
/** The end of the period on screen; `undefined`: it follows the clock. */
const pinnedEnd = signal<number | undefined>(undefined);

/** Changes when the user moves the period, but not while it follows the clock. */
export const position = computed(() => `${pinnedEnd.value}/${spanMs.value}`);
export const isFollowing = computed(() => pinnedEnd.value === undefined);
export const to = computed(() => pinnedEnd.value ?? (now.value ?? 0) + spanMs.value * AHEAD);
export const from = computed(() => to.value - spanMs.value);

/** Zooms by a factor around an instant, which stays where it is. */
export function zoom(factor: number, around: number): void {
  const span = Math.min(LONGEST, Math.max(SHORTEST, spanMs.value * factor));
  const share = (to.value - around) / spanMs.value;
  const isAroundNow = isFollowing.value && around >= (now.value ?? 0);
  if (!isAroundNow) pinnedEnd.value = around + span * share;
  spanMs.value = span;
}

export function pan(ms: number): void {
  pinnedEnd.value = to.value + ms;
}

export function follow(): void {
  pinnedEnd.value = undefined;
}

/** Shows the last `ms` up to the instant that the page shows. */
export function showLast(ms: number): void {
  spanMs.value = Math.min(LONGEST, Math.max(SHORTEST, ms));
  const shown = shownNow.value;
  if (!isFollowing.value && shown !== undefined) pinnedEnd.value = shown + spanMs.value * AHEAD;
}

/** Shows a period with a little room on both sides. */
export function showPeriod(begin: number, end: number): void {
  const room = Math.max(SHORTEST, end - begin) * 0.1;
  spanMs.value = Math.min(LONGEST, Math.max(SHORTEST, end - begin + 2 * room));
  pinnedEnd.value = end + room;
}

/** Moves the period so that an instant is on screen. */
export function reveal(instant: number): void {
  if (instant < from.value || instant > to.value) pinnedEnd.value = instant + spanMs.value / 2;
}
