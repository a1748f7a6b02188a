import { effect, useComputed, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../client/request.ts";
import type { Compute, Timeline as TimelineAnswer } from "../client/types.ts";
import { formatDuration, formatInstant } from "../parts/format.ts";
import { gently } from "../state/refresh.ts";
import { at, changes, clock, computes, nameOfCompute, now, selection, stats } from "../state/world.ts";
import { readColors } from "./colors.ts";
import { AXIS_HEIGHT, drawScene, type SceneRow } from "./draw.ts";
import { TimelineToolbar } from "./toolbar.tsx";
import { follow, from, pan, position, spanMs, to, zoom } from "./viewport.ts";

const MAX_LANES = 100;
const ROOMY = 44;
const DENSE = 26;
/** From this number of computes on, lanes are lower. */
const DENSE_FROM = 14;
const WHEEL_ZOOM = 0.0015;
const KEY_ZOOM = 1.4;
const KEY_PAN = 0.15;

/** A lane for each compute on the simulated clock. Only the lanes on screen are read and drawn. */
export function Timeline() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const answer = useSignal<TimelineAnswer | undefined>(undefined);
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
      const present = now.peek();
      if (ids.length === 0 || present === undefined || from.peek() >= present) {
        if (ids.length === 0) answer.value = undefined;
        return;
      }
      const query = new URLSearchParams({
        from: new Date(Math.max(0, from.peek())).toISOString(),
        to: new Date(to.peek()).toISOString(),
        points: String(Math.max(50, Math.min(2_000, Math.round(size.peek().width)))),
        endpoint_id: ids.join(","),
      });
      answer.value = await get<TimelineAnswer>(`/timeline?${query}`);
    }, 60);
    return effect(() => {
      changes.value;
      visible.value;
      position.value;
      clock.value?.mode;
      read();
    });
  }, [answer, size, visible]);

  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const measure = () => {
      size.value = { width: element.clientWidth, height: element.clientHeight, scroll: element.scrollTop };
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

  useEffect(() => {
    const element = canvas.current;
    if (element === null) return;
    let frame = 0;
    let colors = readColors(element);
    const draw = () => {
      const context = element.getContext("2d");
      const { width, height, scroll } = size.peek();
      if (context === null || width === 0) return;
      const ratio = devicePixelRatio;
      if (element.width !== Math.round(width * ratio) || element.height !== Math.round(height * ratio)) {
        element.width = Math.round(width * ratio);
        element.height = Math.round(height * ratio);
      }
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      const lanes = new Map(answer.peek()?.endpoints.map((lane) => [lane.endpoint_id, lane]));
      const rows: SceneRow[] = visible.peek().map(({ compute, index }) => {
        const suspendAt = stats.peek().get(compute.id)?.autosuspend.suspend_at;
        return {
          id: compute.id,
          top: AXIS_HEIGHT + index * laneHeight.peek() - scroll,
          height: laneHeight.peek(),
          isSelected: selection.peek()?.id === compute.id,
          suspendAt: suspendAt === null || suspendAt === undefined ? undefined : Date.parse(suspendAt),
          lane: lanes.get(compute.id),
        };
      });
      const [begin, end] = [from.peek(), to.peek()];
      const pointer = hovered.peek();
      drawScene(
        context,
        {
          width,
          height,
          from: begin,
          to: end,
          now: now.peek() ?? end,
          at: at.peek(),
          hoveredAt: pointer === undefined ? undefined : begin + (pointer.x / width) * (end - begin),
          rows,
          timeline: answer.peek(),
          lastsUntil: lastsUntil(answer.peek(), now.peek()),
          maxCu: Math.max(1, ...computes.peek().map(({ range }) => range.max_cu)),
          font: getComputedStyle(element).font,
        },
        colors,
      );
    };
    const request = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(draw);
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolor = () => {
      colors = readColors(element);
      request();
    };
    scheme.addEventListener("change", recolor);
    const stop = effect(() => {
      answer.value;
      size.value;
      hovered.value;
      visible.value;
      selection.value;
      stats.value;
      from.value;
      to.value;
      at.value;
      now.value;
      request();
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
      scheme.removeEventListener("change", recolor);
    };
  }, [answer, size, hovered, visible, laneHeight]);

  const instantAt = (x: number) => from.value + (x / Math.max(1, size.value.width)) * spanMs.value;
  const positionOf = (event: { clientX: number; clientY: number }) => {
    const box = canvas.current?.getBoundingClientRect() ?? new DOMRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const laneAt = (y: number): Compute | undefined =>
    y < AXIS_HEIGHT
      ? undefined
      : computes.value[Math.floor((y - AXIS_HEIGHT + size.value.scroll) / laneHeight.value)];
  const scrubTo = (x: number) => {
    const instant = Math.round(instantAt(x));
    at.value = instant >= (now.value ?? 0) ? undefined : Math.max(instant, beginOfHistory(answer.value));
  };

  const onPointerDown = (event: PointerEvent) => {
    const target = event.currentTarget as HTMLElement;
    const start = positionOf(event);
    const scrubs = start.y < AXIS_HEIGHT;
    let [last, moved] = [start.x, false];
    target.setPointerCapture(event.pointerId);
    if (scrubs) scrubTo(start.x);
    const move = (next: PointerEvent) => {
      const { x } = positionOf(next);
      if (scrubs) scrubTo(x);
      else if (moved || Math.abs(x - start.x) > 3) {
        moved = true;
        pan((-(x - last) / Math.max(1, size.value.width)) * spanMs.value);
      }
      last = x;
    };
    const end = (next: PointerEvent) => {
      target.removeEventListener("pointermove", move);
      target.removeEventListener("pointerup", end);
      target.removeEventListener("pointercancel", end);
      if (scrubs || moved || next.type === "pointercancel") return;
      const compute = laneAt(start.y);
      if (compute !== undefined) selection.value = { kind: "compute", id: compute.id };
    };
    target.addEventListener("pointermove", move);
    target.addEventListener("pointerup", end);
    target.addEventListener("pointercancel", end);
  };
  const onWheel = (event: WheelEvent) => {
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      pan((event.deltaX / Math.max(1, size.value.width)) * spanMs.value);
    } else if (event.ctrlKey || event.metaKey || event.altKey) {
      event.preventDefault();
      zoom(Math.exp(event.deltaY * WHEEL_ZOOM), instantAt(positionOf(event).x));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const middle = at.value ?? now.value ?? 0;
    const actions: Record<string, () => void> = {
      ArrowLeft: () => pan(-spanMs.value * KEY_PAN),
      ArrowRight: () => pan(spanMs.value * KEY_PAN),
      "+": () => zoom(1 / KEY_ZOOM, middle),
      "=": () => zoom(1 / KEY_ZOOM, middle),
      "-": () => zoom(KEY_ZOOM, middle),
      "[": () => {
        at.value = Math.max(beginOfHistory(answer.value), middle - spanMs.value / 100);
      },
      "]": () => {
        const next = middle + spanMs.value / 100;
        at.value = at.value === undefined || next >= (now.value ?? 0) ? undefined : next;
      },
      f: follow,
      Escape: () => {
        at.value = undefined;
      },
    };
    const action = actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  };

  return (
    <section class="timeline panel" aria-label="Timeline">
      <TimelineToolbar begin={beginOfHistory(answer.value)} />
      <div class={`lanes ${laneHeight.value === DENSE ? "dense" : ""}`} ref={scroller}>
        <ol class="lane-names">
          {computes.value.length <= MAX_LANES * 20 &&
            computes.value.map((compute) => <LaneName key={compute.id} compute={compute} />)}
        </ol>
        <div
          class="drawing"
          style={{ height: `${size.value.height}px` }}
          role="application"
          aria-label="Drawing of the timeline. Arrow keys move, plus and minus zoom, brackets move the playhead, f follows the clock."
          // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
          tabIndex={0}
          onPointerDown={onPointerDown}
          onPointerMove={(event) => {
            hovered.value = positionOf(event);
          }}
          onPointerLeave={() => {
            hovered.value = undefined;
          }}
          onWheel={onWheel}
          onKeyDown={onKeyDown}
        >
          <canvas ref={canvas} />
          {answer.value === undefined && computes.value.length > 0 && (
            <p class="reading" role="status">
              Reading the history of this world …
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

function LaneName({ compute }: { readonly compute: Compute }) {
  const isSelected = selection.value?.id === compute.id;
  return (
    <li>
      <button
        type="button"
        class={isSelected ? "selected" : ""}
        aria-pressed={isSelected}
        onClick={() => {
          selection.value = { kind: "compute", id: compute.id };
        }}
      >
        <span class={`dot ${dotOf(compute)}`} aria-hidden="true" />
        <span class="name">{nameOfCompute(compute)}</span>
      </button>
    </li>
  );
}

/** The class of a compute's state. */
export function dotOf({ phase, disabled }: Compute): string {
  if (disabled) return "disabled";
  return phase.state === "active" ? "active" : "idle";
}

/** The present, if the answer reached the present when it was given. */
function lastsUntil(answer: TimelineAnswer | undefined, present: number | undefined): number {
  const reached = answer !== undefined && Date.parse(answer.to) >= Date.parse(answer.now);
  return reached ? (present ?? 0) : 0;
}

function beginOfHistory(answer: TimelineAnswer | undefined): number {
  return answer === undefined ? 0 : Date.parse(answer.history_begins_at);
}

type HoverProps = {
  readonly pointer: { readonly x: number; readonly y: number } | undefined;
  readonly width: number;
  readonly compute: Compute | undefined;
  readonly instant: number | undefined;
  readonly answer: TimelineAnswer | undefined;
};

/** What is under the pointer, in words. */
function Hover({ pointer, width, compute, instant, answer }: HoverProps) {
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
    </div>
  );
}
