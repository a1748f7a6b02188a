/** A rectangle in pixels; `y` grows downwards. */
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** A text that belongs to a point of a drawing. */
export type PointLabel = {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  /** Radius of the mark at the point, in pixels. The label does not cover the mark. */
  readonly radius: number;
  readonly isStrong: boolean;
  /** Omitted if it does not fit next to its point; other labels move further away first. */
  readonly isOptional: boolean;
};

export type PlacedLabel<T extends PointLabel> = {
  readonly label: T;
  readonly box: Box;
  /** The box is so far from its point that a line has to connect them. */
  readonly isRemote: boolean;
};

const FONT_SIZE = 12;
const LINE_HEIGHT = 15;
/** Upper estimates of the average width of a character, as a share of the font size. */
const REGULAR_WIDTH = 0.56;
const STRONG_WIDTH = 0.6;
const GAP = 5;
/** Distances from the point at which a label is tried, in lines. */
const RINGS: readonly number[] = [0, 1, 2, 3, 4, 6, 8, 11, 14];
const DIRECTIONS: readonly (readonly [number, number])[] = [
  [1, 0],
  [1, -1],
  [1, 1],
  [-1, 0],
  [-1, -1],
  [-1, 1],
  [0, -1],
  [0, 1],
];

/** Fonts differ between machines, so the width is an estimate on the wide side. */
export function textWidth(text: string, isStrong: boolean): number {
  return [...text].length * FONT_SIZE * (isStrong ? STRONG_WIDTH : REGULAR_WIDTH);
}

/**
 * Places each label near its point, within the frame, without overlapping another label or the mark of a point.
 * Prefers positions that cover none of `lines`. Labels are placed in their order; one without room is omitted.
 */
export function placeLabels<T extends PointLabel>(
  labels: readonly T[],
  frame: Box,
  lines: readonly Box[],
): PlacedLabel<T>[] {
  const placed: PlacedLabel<T>[] = [];
  const marks = labels.map(({ x, y, radius }) => around(x, y, radius));
  for (const label of labels) {
    const taken = [...placed.map(({ box }) => box), ...marks];
    const best = candidates(label)
      .filter(({ box }) => isWithin(box, frame) && taken.every((other) => !overlaps(box, other)))
      .map((candidate) => ({
        ...candidate,
        cost: candidate.ring * 2 + lines.filter((line) => overlaps(candidate.box, line)).length,
      }))
      .reduce<{ box: Box; ring: number; cost: number } | undefined>(
        (least, candidate) => (least === undefined || candidate.cost < least.cost ? candidate : least),
        undefined,
      );
    if (best !== undefined) placed.push({ label, box: best.box, isRemote: best.ring > 0 });
  }
  return placed;
}

function candidates(label: PointLabel): { box: Box; ring: number }[] {
  const width = textWidth(label.text, label.isStrong);
  const rings = label.isOptional ? RINGS.slice(0, 1) : RINGS;
  return rings.flatMap((ring) =>
    DIRECTIONS.map(([right, down]) => {
      const distance = label.radius + GAP + ring * LINE_HEIGHT;
      const centerX = label.x + right * (distance * (down === 0 ? 1 : Math.SQRT1_2) + width / 2);
      const centerY = label.y + down * (distance * (right === 0 ? 1 : Math.SQRT1_2) + LINE_HEIGHT / 2);
      return {
        ring,
        box: { x: centerX - width / 2, y: centerY - LINE_HEIGHT / 2, width, height: LINE_HEIGHT },
      };
    }),
  );
}

export function around(x: number, y: number, radius: number): Box {
  return { x: x - radius, y: y - radius, width: 2 * radius, height: 2 * radius };
}

export function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

function isWithin(box: Box, frame: Box): boolean {
  return (
    box.x >= frame.x &&
    box.y >= frame.y &&
    box.x + box.width <= frame.x + frame.width &&
    box.y + box.height <= frame.y + frame.height
  );
}
