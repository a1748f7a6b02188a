import { effect, type ReadonlySignal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get } from "../client/request.ts";
import type { Timeline } from "../client/types.ts";
import { throttled } from "../state/refresh.ts";
import { from, position, to } from "../state/viewport.ts";
import { changes, clock, lanesOnScreen, now } from "../state/world.ts";
import type { TimelineView } from "./view.ts";

const READ_AFTER_MS = 60;

/** The timeline of the lanes on screen, read again after what it shows has changed. */
export function useAnswer({
  size,
  visible,
}: Pick<TimelineView, "size" | "visible">): ReadonlySignal<Timeline | undefined> {
  const answer = useSignal<Timeline | undefined>(undefined);
  useEffect(() => {
    const read = throttled(async () => {
      const ids = visible.peek().map(({ compute }) => compute.id);
      const query = new URLSearchParams({
        from: new Date(Math.max(0, from.peek())).toISOString(),
        to: new Date(to.peek()).toISOString(),
        points: String(Math.max(50, Math.min(2_000, Math.round(size.peek().width)))),
        endpoint_id: ids.join(","),
      });
      answer.value = await get<Timeline>(`/timeline?${query}`);
      // The server has not read the whole history yet.
      if (answer.value.read !== undefined) read();
    }, READ_AFTER_MS);
    return effect(() => {
      lanesOnScreen.value = visible.value.map(({ compute }) => compute.id);
      changes.value;
      visible.value;
      position.value;
      clock.value?.mode;
      const present = now.peek();
      if (visible.value.length === 0) answer.value = undefined;
      else if (present !== undefined && from.peek() < present) read();
    });
  }, [answer, size, visible]);
  return answer;
}
