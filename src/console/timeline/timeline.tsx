import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { Timeline as TimelineAnswer } from "../client/types.ts";
import { computes } from "../state/world.ts";
import { Hover } from "./hover.tsx";
import { onTimelineKey } from "./key-gestures.ts";
import { LaneNames } from "./lane-names.tsx";
import { placesOf } from "./places.ts";
import { pointerGestures } from "./pointer-gestures.ts";
import { TimelineToolbar } from "./toolbar.tsx";
import { useAnswer } from "./use-answer.ts";
import { useDrawing } from "./use-drawing.ts";
import { areLanesDense, useLanes } from "./use-lanes.ts";
import { beginOfHistory } from "./view.ts";

/** A lane for each compute on the simulated clock. Only the lanes on screen are read and drawn. */
export function Timeline() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { current: pressed } = useRef(new Map<number, number>());
  const hovered = useSignal<{ readonly x: number; readonly y: number } | undefined>(undefined);
  const lanes = useLanes(canvas, scroller);
  const answer = useAnswer(lanes);
  const view = { canvas, answer, hovered, pressed, ...lanes };
  useDrawing(view);

  const { size, laneHeight } = lanes;
  const places = placesOf(view);

  return (
    <section class="timeline panel" aria-label="Timeline">
      <TimelineToolbar begin={beginOfHistory(answer.value)} />
      <div class={`lanes ${areLanesDense() ? "dense" : ""}`} ref={scroller}>
        <LaneNames {...size.value} laneHeight={laneHeight.value} />
        <div
          class="drawing"
          style={{ height: `${size.value.height}px` }}
          role="application"
          aria-label="Drawing of the timeline. Arrow keys move, plus and minus zoom, brackets move the playhead, b and e select the period from and to it, f follows the clock."
          // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
          tabIndex={0}
          {...pointerGestures(view, places)}
          onKeyDown={(event) => onTimelineKey(event, answer)}
          onPointerMove={(event) => {
            hovered.value = places.positionOf(event);
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
            compute={hovered.value && places.laneAt(hovered.value.y)}
            instant={hovered.value && places.instantAt(hovered.value.x)}
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
