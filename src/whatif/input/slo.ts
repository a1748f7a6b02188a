import { type DurationMs, parseDuration } from "../../kernel/time.ts";

/** An objective for waits: at least `share` of all requests wait for at most `waitMs`. */
export type Slo = { readonly share: number; readonly waitMs: DurationMs };

export const SLO_RULE = 'must be a limit on a percentile of the wait, such as "p99 wait < 2s"';

/** Accepts `p99 wait < 2s` and `p99.9 wait < 500ms`; `undefined` for anything else. */
export function parseSlo(text: string): Slo | undefined {
  const [, percentile, limit] =
    /^p(\d{1,2}(?:\.\d{1,2})?) wait (?:<=?|at most) ?([0-9a-z.]{1,20})$/.exec(text.trim()) ?? [];
  const waitMs = limit === undefined ? undefined : parseDuration(limit);
  const share = Number(percentile) / 100;
  return waitMs === undefined || share <= 0 ? undefined : { share, waitMs };
}

export function sloText({ share, waitMs }: Slo, durationText: (ms: DurationMs) => string): string {
  return `p${Number((share * 100).toFixed(2))} wait < ${durationText(waitMs)}`;
}
