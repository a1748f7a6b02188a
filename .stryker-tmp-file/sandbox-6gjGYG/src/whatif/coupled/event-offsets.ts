/**
 * Order of events at one instant: a month begins, starts end, requests arrive (offset 0), a quota is reached,
 * computes suspend. It is the order of the live simulation's timer queue. Instants are whole milliseconds, so
 * an offset of less than half a millisecond orders the events of one instant, and rounding removes it again.
 */
// @ts-nocheck

export const MONTH_OFFSET = -0.375;
export const READY_OFFSET = -0.25;
export const QUOTA_OFFSET = 0.25;
export const SUSPEND_OFFSET = 0.375;
