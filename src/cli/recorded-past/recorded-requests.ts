import { SECOND, type SimTime } from "../../kernel/time.ts";
import { RECORDED_USE } from "../../platform/model/activity.ts";
import type { ComputePast } from "./account-past.ts";
import { knownUse } from "./known-use.ts";
import { OperationCourse } from "./operation-course.ts";

/**
 * When the second request of a period arrives. It must not wait for a start, because it would end later. And it must
 * arrive before any delay suspends the compute: S: the shortest delay is 60 s.
 */
const SECOND_REQUEST_AFTER_MS = 30 * SECOND;

/** A row of recorded traffic (docs/reference/traffic.md). */
export type RecordedRequest = {
  readonly endpoint_id: string;
  readonly at: string;
  readonly duration_ms: number;
  readonly source: string;
};

/**
 * The requests that cause the recorded periods of a compute, oldest first: one that starts it, and one that lasts until the
 * last use that the delay allows. Starts without a request have none.
 */
export function* recordedRequests(past: ComputePast, defaultDelayS: number): Generator<RecordedRequest> {
  const course = new OperationCourse(past);
  const usedUntil = knownUse(past, course, defaultDelayS);
  const requestAt = (at: SimTime, endsAt: SimTime): RecordedRequest => ({
    ...{ endpoint_id: past.id, at: new Date(at).toISOString(), duration_ms: endsAt - at },
    source: RECORDED_USE,
  });
  for (let index = 0; index < course.length; index += 1) {
    const until = usedUntil[index] as number;
    if (Number.isNaN(until)) continue;
    const requestedAt = course.createdAt[index] as number;
    yield requestAt(requestedAt, requestedAt);
    if (until > (course.endsAt[index] as number))
      yield requestAt(Math.min(until, requestedAt + SECOND_REQUEST_AFTER_MS), until);
  }
}
