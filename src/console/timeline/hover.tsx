import type { Compute, Timeline as TimelineAnswer } from "../client/types.ts";
import { formatDuration, formatInstant } from "../state/format.ts";
import { spanMs } from "../state/viewport.ts";
import { nameOfCompute } from "../state/world.ts";

type HoverProps = {
  readonly pointer: { readonly x: number; readonly y: number } | undefined;
  readonly width: number;
  readonly compute: Compute | undefined;
  readonly instant: number | undefined;
  readonly answer: TimelineAnswer | undefined;
};

/** Describes the compute and the instant under the pointer. */
export function Hover({ pointer, width, compute, instant, answer }: HoverProps) {
  if (pointer === undefined || instant === undefined) return null;
  const side =
    pointer.x > width / 2 ? { right: `${width - pointer.x + 12}px` } : { left: `${pointer.x + 12}px` };
  const begin = answer === undefined ? 0 : Date.parse(answer.from);
  const lane = answer?.endpoints.find(({ endpoint_id }) => endpoint_id === compute?.id);
  const span = lane?.spans.find(
    ({ since_ms, until_ms }) => begin + since_ms <= instant && instant < begin + until_ms,
  );
  const reach = Math.max(answer?.point_ms ?? 0, (3 / Math.max(1, width)) * spanMs.value);
  const arrivals = (lane?.arrivals ?? []).filter(({ at_ms }) => Math.abs(begin + at_ms - instant) <= reach);
  const count = arrivals.reduce((sum, one) => sum + one.count, 0);
  const waiting = arrivals.reduce((sum, one) => sum + one.waiting, 0);
  return (
    <div class="hover" style={{ ...side, top: `${pointer.y + 12}px` }} role="presentation">
      <time>{formatInstant(Math.round(instant))}</time>
      {compute && <b>{nameOfCompute(compute)}</b>}
      {span && (
        <span>
          {span.state === "mixed"
            ? `active ${Math.round((span.active_share ?? 0) * 100)} % of the time`
            : span.state}
          {span.size_cu > 0 && `, ${span.state === "mixed" ? "up to " : ""}${span.size_cu} CU`}
          {span.state !== "mixed" && `, ${formatDuration(span.until_ms - span.since_ms)}`}
        </span>
      )}
      {count > 0 && (
        <span>
          {count} {count === 1 ? "arrival" : "arrivals"}
          {waiting > 0 && `, ${waiting} waited for a start`}
        </span>
      )}
      {compute && <small>Click for the reasons of its state.</small>}
    </div>
  );
}
