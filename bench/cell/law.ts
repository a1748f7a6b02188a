/** A measured cost `y` of a server at size `x`. */
export type Measurement = { readonly x: number; readonly y: number };

/** The cost of one more, by least squares of the relative errors, so that small sizes count like large ones. */
export function costPerUnit(measured: readonly Measurement[]): {
  readonly fixed: number;
  readonly each: number;
} {
  let [weight, sumX, sumY, sumXX, sumXY] = [0, 0, 0, 0, 0];
  for (const { x, y } of measured) {
    const w = 1 / y ** 2;
    weight += w;
    sumX += w * x;
    sumY += w * y;
    sumXX += w * x * x;
    sumXY += w * x * y;
  }
  const each = (weight * sumXY - sumX * sumY) / (weight * sumXX - sumX ** 2);
  return { fixed: (sumY - each * sumX) / weight, each };
}
