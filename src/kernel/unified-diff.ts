const CONTEXT_LINES = 3;

type Edit = { readonly mark: " " | "-" | "+"; readonly line: string };

/** The difference of two texts in the unified format, without the names of files; empty if they are equal. */
export function unifiedDiff(before: string, after: string): string {
  if (before === after) return "";
  const edits = editsBetween(linesOf(before), linesOf(after));
  return hunksOf(edits)
    .map(({ from, to }) => renderHunk(edits, from, to))
    .join("");
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The shortest edits (Myers). What both texts begin and end with is not searched. */
function editsBetween(before: readonly string[], after: readonly string[]): Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end += 1;
  const same = (lines: readonly string[]): Edit[] => lines.map((line) => ({ mark: " ", line }));
  return [
    ...same(before.slice(0, start)),
    ...shortestEdits(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

/** Beyond this number of edits, the rest is shown as replaced: the search takes the square of their number. */
const MAX_EDITS = 4_000;

function shortestEdits(before: readonly string[], after: readonly string[]): Edit[] {
  const [n, m] = [before.length, after.length];
  const furthest = new Map<number, number>([[1, 0]]);
  const trace: ReadonlyMap<number, number>[] = [];
  for (let edits = 0; edits <= Math.min(n + m, MAX_EDITS); edits += 1) {
    trace.push(new Map(furthest));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = startOf(furthest, diagonal, edits);
      while (x < n && x - diagonal < m && before[x] === after[x - diagonal]) x += 1;
      furthest.set(diagonal, x);
      if (x >= n && x - diagonal >= m) return backtrack(before, after, trace);
    }
  }
  return [
    ...before.map((line): Edit => ({ mark: "-", line })),
    ...after.map((line): Edit => ({ mark: "+", line })),
  ];
}

/** Start of a path on this diagonal, after one more deletion or insertion. */
function startOf(furthest: ReadonlyMap<number, number>, diagonal: number, edits: number): number {
  const [below, above] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1];
  return diagonal === -edits || (diagonal !== edits && below < above) ? above : below + 1;
}

function backtrack(
  before: readonly string[],
  after: readonly string[],
  trace: readonly ReadonlyMap<number, number>[],
): Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [before.length, after.length];
  for (let step = trace.length - 1; step >= 0; step -= 1) {
    const furthest = trace[step] ?? new Map<number, number>();
    const diagonal = x - y;
    const [below, above] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1];
    const isInsertion = diagonal === -step || (diagonal !== step && below < above);
    const previous = isInsertion ? diagonal + 1 : diagonal - 1;
    const previousX = furthest.get(previous) ?? 0;
    const previousY = previousX - previous;
    while (x > previousX && y > previousY && x > 0 && y > 0) {
      edits.push({ mark: " ", line: before[x - 1] ?? "" });
      x -= 1;
      y -= 1;
    }
    if (step === 0) break;
    edits.push(
      isInsertion ? { mark: "+", line: after[y - 1] ?? "" } : { mark: "-", line: before[x - 1] ?? "" },
    );
    [x, y] = [previousX, previousY];
  }
  return edits.reverse();
}

/** Ranges of edits: changes with the lines around them. `to` is exclusive. */
function hunksOf(edits: readonly Edit[]): { readonly from: number; readonly to: number }[] {
  const hunks: { from: number; to: number }[] = [];
  for (const [index, { mark }] of edits.entries()) {
    if (mark === " ") continue;
    const [from, to] = [
      Math.max(index - CONTEXT_LINES, 0),
      Math.min(index + CONTEXT_LINES + 1, edits.length),
    ];
    const last = hunks.at(-1);
    if (last !== undefined && from <= last.to) last.to = to;
    else hunks.push({ from, to });
  }
  return hunks;
}

function renderHunk(edits: readonly Edit[], from: number, to: number): string {
  const count = (part: readonly Edit[], without: "+" | "-") =>
    part.filter(({ mark }) => mark !== without).length;
  const [earlier, shown] = [edits.slice(0, from), edits.slice(from, to)];
  const range = (without: "+" | "-") => {
    const lines = count(shown, without);
    const first = count(earlier, without) + (lines === 0 ? 0 : 1);
    return lines === 1 ? `${first}` : `${first},${lines}`;
  };
  return `@@ -${range("+")} +${range("-")} @@\n${shown.map(({ mark, line }) => `${mark}${line}\n`).join("")}`;
}
