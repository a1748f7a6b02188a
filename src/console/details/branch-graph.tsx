import type { Branch } from "../client/types.ts";
import { formatDuration, formatInstant } from "../state/format.ts";
import { selection, shownNow } from "../state/world.ts";

const WIDTH = 292;
const ROW = 30;
const MAX_BRANCHES = 40;

/**
 * Branches on the simulated clock: each line begins at its creation, and its curve leaves the parent at the point of
 * the parent's data with which it began.
 */
export function BranchGraph({ branches }: { readonly branches: readonly Branch[] }) {
  const ordered = inTreeOrder(branches).slice(0, MAX_BRANCHES);
  const end = shownNow.value ?? 0;
  const points = ordered.map((branch) => ({ branch, ...pointsOf(branch) }));
  const begin = Math.min(end, ...points.map(({ leaves }) => leaves));
  const span = Math.max(1, end - begin);
  const x = (at: number) => 6 + ((Math.min(at, end) - begin) / span) * (WIDTH - 12);
  const rowOf = new Map(ordered.map(({ id }, index) => [id, index]));
  const y = (index: number) => index * ROW + 22;
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing with several buttons. */}
      <svg
        class="branch-graph"
        viewBox={`0 0 ${WIDTH} ${ordered.length * ROW + 4}`}
        role="group"
        aria-label="Branches and the points where they begin"
      >
        {points.map(({ branch, leaves, begins }, index) => {
          const parent = rowOf.get(branch.parent_id ?? "");
          const isSelected = selection.value?.id === branch.id;
          const [left, bottom] = [x(begins), y(index)];
          return (
            <g key={branch.id} class={isSelected ? "selected" : ""}>
              {parent !== undefined && (
                <>
                  <path
                    class="edge"
                    d={`M ${x(leaves)} ${y(parent)} C ${x(leaves)} ${bottom}, ${x(leaves)} ${bottom}, ${Math.max(left, x(leaves) + 6)} ${bottom}`}
                  />
                  <circle class="point" cx={x(leaves)} cy={y(parent)} r="3.5" />
                </>
              )}
              <line class="life" x1={left} y1={bottom} x2={WIDTH - 6} y2={bottom} />
              {/* biome-ignore lint/a11y/useSemanticElements: a button cannot be within a drawing. */}
              <text
                x={Math.min(left + 4, WIDTH - 110)}
                y={bottom - 6}
                role="button"
                tabindex={0}
                aria-label={`${branch.name}, ${pointText(branch)}`}
                onClick={() => select(branch)}
                onKeyDown={({ key }) => key === "Enter" && select(branch)}
              >
                {shorten(branch.name)}
                <title>{`${branch.name}, ${pointText(branch)}`}</title>
              </text>
            </g>
          );
        })}
      </svg>
      <p class="more">
        {formatDuration(span)} up to {formatInstant(end)}
        {branches.length > MAX_BRANCHES && `; ${branches.length - MAX_BRANCHES} more branches are not shown`}
      </p>
    </>
  );
}

function select({ id }: Branch): void {
  selection.value = { kind: "branch", id };
}

/** When the branch leaves its parent, and when it was created. */
function pointsOf({ parent_timestamp, created_at }: Branch): { leaves: number; begins: number } {
  const begins = Date.parse(created_at);
  return { leaves: parent_timestamp === undefined ? begins : Date.parse(parent_timestamp), begins };
}

export function pointText({ parent_id, parent_timestamp, created_at }: Branch): string {
  if (parent_id === undefined) return `created ${formatInstant(created_at)}`;
  return `from its parent as of ${formatInstant(parent_timestamp ?? created_at)}`;
}

function shorten(name: string): string {
  return name.length > 22 ? `${name.slice(0, 21)}…` : name;
}

/** Each branch after its parent. */
function inTreeOrder(branches: readonly Branch[]): readonly Branch[] {
  const ids = new Set(branches.map(({ id }) => id));
  const below = (parent: string | undefined): Branch[] =>
    branches
      .filter(({ parent_id = "" }) => (ids.has(parent_id) ? parent_id === parent : parent === undefined))
      .flatMap((branch) => [branch, ...below(branch.id)]);
  return below(undefined);
}
