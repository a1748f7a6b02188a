import { type DurationMs, parseDuration } from "../../kernel/time.ts";
import { namedSource } from "../trace/named-source.ts";

/** An objective for waits: at least `share` of the requests wait for at most `waitMs`. */
export type Slo = {
  /** Share of requests, above 0 and below 1. */
  readonly share: number;
  readonly waitMs: DurationMs;
  /** Source whose requests count; undefined: all requests count. */
  readonly source?: string | undefined;
};

export const SLO_RULE =
  'must be a limit on a percentile of the wait, such as "p99 wait < 2s" or "p95 wait < 500ms for web"';

const FORM = /^p(\d{1,2}(?:\.\d{1,3})?) wait (?:<=?|at most) ?([0-9a-z.]{1,20})(?: for (\S.{0,127}))?$/;

/** Parses an SLO; undefined if the text does not follow `SLO_RULE`. */
export function parseSlo(text: string): Slo | undefined {
  const [, percentile, limit, source] = FORM.exec(text.trim()) ?? [];
  const waitMs = limit === undefined ? undefined : parseDuration(limit);
  // Divided once, so that 99.9 % is the number 0.999.
  const share = Math.round(Number(percentile) * 1_000) / 100_000;
  if (waitMs === undefined || share <= 0) return undefined;
  return source === undefined ? { share, waitMs } : { share, waitMs, source };
}

export function sloText({ share, waitMs, source }: Slo, durationText: (ms: DurationMs) => string): string {
  const limit = `${percentileText(share)} wait < ${durationText(waitMs)}`;
  return source === undefined ? limit : `${limit} for ${source}`;
}

/** Formats the percentile as it is written in an SLO, such as `p99`. */
export function percentileText(share: number): string {
  return `p${Number((share * 100).toFixed(3))}`;
}

/** Whether the SLO is about p99 over all requests, which every replay reports. */
export function isOfAllAtP99({ share, source }: Slo): boolean {
  return share === 0.99 && source === undefined;
}

/**
 * Position of the SLO's source in the traffic; undefined if all requests count. Throws a RangeError if no request has
 * the source.
 */
export function sloSource(
  slo: Slo | undefined,
  sources: readonly string[],
  field = "slo",
): number | undefined {
  if (slo?.source === undefined) return undefined;
  return namedSource(slo.source, sources, field);
}
