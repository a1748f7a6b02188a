import { effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../client/request.ts";
import type { Timeline as TimelineAnswer } from "../client/types.ts";
import { gently } from "../state/refresh.ts";
import { from, position, to } from "../state/viewport.ts";
import { changes, clock, computes, lanesOnScreen, now } from "../state/world.ts";
import { gesturesOf } from "./gestures.ts";
import { Hover } from "./hover.tsx";
import { LaneNames } from "./lane-names.tsx";
import { TimelineToolbar } from "./toolbar.tsx";
import { useDrawing } from "./use-drawing.ts";
import { beginOfHistory } from "./view.ts";

const MAX_LANES = 100;
const ROOMY = 44;
const DENSE = 26;
/** From this number of computes on, lanes are lower. */
const DENSE_FROM = 14;

/** A lane for each compute on the simulated clock. Only the lanes on screen are read and drawn. */
export function Timeline() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const answer = useSignal<TimelineAnswer | undefined>(undefined);
  const { current: pressed } = useRef(new Map<number, number>());
  const size = useSignal({ width: 0, height: 0, scroll: 0 });
  const hovered = useSignal<{ readonly x: number; readonly y: number } | undefined>(undefined);
  const laneHeight = useComputed(() => (computes.value.length >= DENSE_FROM ? DENSE : ROOMY));
  const visible = useComputed(() => {
    const first = Math.max(0, Math.floor(size.value.scroll / laneHeight.value));
    const count = Math.ceil(size.value.height / laneHeight.value) + 1;
    return computes.value
      .slice(first, first + Math.min(count, MAX_LANES))
      .map((compute, index) => ({ compute, index: first + index }));
  });

  useEffect(() => {
    const read = gently(async () => {
      const ids = visible.peek().map(({ compute }) => compute.id);
      const query = new URLSearchParams({
        from: new Date(Math.max(0, from.peek())).toISOString(),
        to: new Date(to.peek()).toISOString(),
        points: String(Math.max(50, Math.min(2_000, Math.round(size.peek().width)))),
        endpoint_id: ids.join(","),
      });
      answer.value = await get<TimelineAnswer>(`/timeline?${query}`);
      // The server has not read the whole history yet.
      if (answer.value.read !== undefined) read();
    }, 60);
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

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => {
      // The names of the lanes are beside the drawing, or above it on a narrow page.
      const width = canvas.current?.clientWidth ?? 0;
      size.value = { width, height: element.clientHeight, scroll: element.scrollTop };
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [size]);

  const view = { canvas, answer, size, hovered, pressed, visible, laneHeight };
  useDrawing(view);

  const { instantAt, positionOf, laneAt, ...handlers } = gesturesOf(view);

  return (
    <section class="timeline panel" aria-label="Timeline">
      <TimelineToolbar begin={beginOfHistory(answer.value)} />
      <div class={`lanes ${laneHeight.value === DENSE ? "dense" : ""}`} ref={scroller}>
        <LaneNames {...size.value} laneHeight={laneHeight.value} />
        <div
          class="drawing"
          style={{ height: `${size.value.height}px` }}
          role="application"
          aria-label="Drawing of the timeline. Arrow keys move, plus and minus zoom, brackets move the playhead, b and e select the period from and to it, f follows the clock."
          // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
          tabIndex={0}
          {...handlers}
          onPointerMove={(event) => {
            hovered.value = positionOf(event);
          }}
          onPointerLeave={() => {
            hovered.value = undefined;
          }}
        >
          <canvas ref={canvas} />
          {isReading(answer.value) && (
            <p class="reading" role="status">
              Reading the history of this world …{" "}
              {answer.value?.read && `${Math.floor((100 * answer.value.read.seq) / answer.value.read.of)} %`}
            </p>
          )}
          <Hover
            pointer={hovered.value}
            width={size.value.width}
            compute={hovered.value && laneAt(hovered.value.y)}
            instant={hovered.value && instantAt(hovered.value.x)}
            answer={answer.value}
          />
        </div>
      </div>
    </section>
  );
}

function isReading(answer: TimelineAnswer | undefined): boolean {
  return answer === undefined ? computes.value.length > 0 : answer.read !== undefined;
}
