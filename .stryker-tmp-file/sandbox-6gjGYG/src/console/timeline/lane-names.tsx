// @ts-nocheck
import type { Compute } from "../client/types.ts";
import { computes, nameOfCompute, selection } from "../state/world.ts";

/** Above this number of computes, only the names on screen and some around them are rendered. */
const MAX_NAMES = 400;
const NAMES_AROUND = 15;

type LaneNamesProps = { readonly scroll: number; readonly height: number; readonly laneHeight: number };

/** A button for each compute, beside its lane. Sizes in pixels. */
export function LaneNames({ scroll, height, laneHeight }: LaneNamesProps) {
  const all = computes.value;
  const isWhole = all.length <= MAX_NAMES;
  const first = isWhole ? 0 : Math.max(0, Math.floor(scroll / laneHeight) - NAMES_AROUND);
  const end = isWhole ? all.length : Math.ceil((scroll + height) / laneHeight) + NAMES_AROUND;
  const shown = all.slice(first, end);
  return (
    <ol class="lane-names">
      <Space height={first * laneHeight} />
      {shown.map((compute) => (
        <LaneName key={compute.id} compute={compute} />
      ))}
      <Space height={(all.length - first - shown.length) * laneHeight} />
    </ol>
  );
}

/** The place of names that are not rendered. */
function Space({ height }: { readonly height: number }) {
  return height === 0 ? null : <li aria-hidden="true" style={{ height: `${height}px` }} />;
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
