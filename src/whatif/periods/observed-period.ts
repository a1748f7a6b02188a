import { type DurationMs, SECOND, type SimTime } from "../../kernel/time.ts";
import { RESOLUTION_MS } from "./active-periods.ts";
import type { PeriodColumns } from "./period-columns.ts";

/**
 * Information from the operations about one period: when its first request arrived, when the last one ended, and when
 * the next one arrived or the reading ended, if starts took no time. One object is reused for all periods, because
 * there are millions.
 */
export class ObservedPeriod {
  /** The arrival of the first request. */
  firstLeast: SimTime = 0;
  firstMost: SimTime = 0;
  /** The end of the last request. */
  lastLeast: SimTime = 0;
  lastMost: SimTime = 0;
  /** The next arrival, or the end of what was read. */
  nextLeast: SimTime = 0;
  nextMost: SimTime = 0;
  /** Bounds of the time from the end of the last request to the next request. It was longer than the delay. */
  gapLeast: DurationMs = 0;
  gapMost: DurationMs = 0;
  /** Delay in force; infinite if unknown, so that no gap is too long. */
  delayMs: DurationMs = 0;
  /** Length of the start. The first request waited for it, so its end is not known more precisely. */
  startMs: DurationMs = 0;
  /** How long the compute was active. */
  activeMs: DurationMs = 0;
  /** Longest possible time from the first request to the end of the last one. */
  windowMs: DurationMs = 0;
  /** Number of restarts within the period. Each start that looks like a restart may have been caused by a request. */
  restarts = 0;
  /** Whether the last request is known because the compute suspended by itself. */
  isAutosuspend = false;
  /** Whether no request followed the period. */
  isLast = false;
  isAtCreation = false;
  /** Whether the period may have had no request: the compute was started at its creation and was idle for one delay. */
  mayBeUnused = false;

  /** `endAt`: the end of what was read. */
  read(periods: PeriodColumns, index: number, endAt: SimTime): void {
    const requestedAt = periods.requestedAt[index] as number;
    const startMs = periods.startMs[index] as number;
    const delayS = periods.delayS[index] as number;
    const lastActiveAt = periods.lastActiveAt(index, endAt);
    this.startMs = startMs;
    this.delayMs = Number.isFinite(delayS) ? delayS * SECOND : Number.POSITIVE_INFINITY;
    this.isAutosuspend = periods.isLastRequestKnown(index);
    this.isLast = periods.isLastOfRecord(index);
    this.isAtCreation = periods.isByCreation(index);
    this.restarts = periods.restartedAt(index).length;
    this.activeMs = Math.max(0, lastActiveAt - (requestedAt + startMs));

    this.nextLeast = this.isLast
      ? periods.recordEnd(index, endAt)
      : (periods.requestedAt[index + 1] as number);
    this.nextMost = this.isLast ? this.nextLeast : this.nextLeast + RESOLUTION_MS;
    const latest = lastActiveAt - (this.isAutosuspend ? this.delayMs : 0) + RESOLUTION_MS;
    this.lastLeast = Math.max(requestedAt, lastActiveAt - this.delayMs - startMs);
    this.lastMost = Math.max(this.lastLeast, Math.min(latest, this.nextLeast + RESOLUTION_MS));
    this.windowMs = Math.max(0, this.lastMost - requestedAt);

    this.firstLeast = requestedAt;
    this.firstMost = requestedAt + RESOLUTION_MS;
    // Without a request, the compute suspends one delay after its start.
    const idleUntil = this.firstMost + startMs + this.delayMs;
    this.mayBeUnused = this.isAtCreation && lastActiveAt <= idleUntil;
    if (this.isAtCreation) this.firstMost = Math.max(this.firstMost, Math.min(idleUntil, this.lastMost));

    const shortest = this.isAutosuspend ? this.delayMs + 1 : 0;
    this.gapMost = Math.max(shortest, this.nextMost - this.lastLeast);
    this.gapLeast = Math.min(this.gapMost, Math.max(shortest, this.nextLeast - this.lastMost));
  }
}
