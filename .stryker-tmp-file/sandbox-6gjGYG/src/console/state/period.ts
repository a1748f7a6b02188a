// @ts-nocheck
import { signal } from "@preact/signals";

/** A selected part of history, in milliseconds; both ends belong to it. */
export type Period = { readonly from: number; readonly to: number };

export const period = signal<Period | undefined>(undefined);

/** Selects what is between two instants, in any order. */
export function selectPeriod(one: number, other: number): void {
  period.value = { from: Math.round(Math.min(one, other)), to: Math.round(Math.max(one, other)) };
}

export function clearPeriod(): void {
  period.value = undefined;
}

export function isInPeriod(at: number): boolean {
  const { value } = period;
  return value !== undefined && value.from <= at && at <= value.to;
}

/** Extends the period to an instant outside of it, or moves its nearer end to an instant within. */
export function togglePeriod(at: number): void {
  const { value } = period;
  if (value === undefined) selectPeriod(at, at);
  else if (!isInPeriod(at)) selectPeriod(Math.min(at, value.from), Math.max(at, value.to));
  else if (at === value.from || at === value.to) clearPeriod();
  else if (at - value.from < value.to - at) selectPeriod(at, value.to);
  else selectPeriod(value.from, at);
}
