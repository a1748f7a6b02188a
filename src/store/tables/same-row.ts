type Fields = { readonly [field: string]: unknown };

/**
 * Whether a row of a world and a row that was read from a file surely have the same values, in any order. A field of
 * the world's row that is `undefined` counts as absent. `false` means unknown: values such as `NaN` are not compared
 * as JSON would store them.
 */
export function isSameRow(row: unknown, stored: unknown): boolean {
  if (row === stored) return true;
  if (typeof row !== "object" || typeof stored !== "object" || row === null || stored === null) return false;
  if (Array.isArray(row) || Array.isArray(stored))
    return Array.isArray(row) && Array.isArray(stored) && isSameList(row, stored);
  let surplus = 0;
  for (const field in row) {
    const value = (row as Fields)[field];
    if (value === undefined) continue;
    if (!isSameRow(value, (stored as Fields)[field])) return false;
    surplus -= 1;
  }
  for (const _ in stored) surplus += 1;
  return surplus === 0;
}

function isSameList(row: readonly unknown[], stored: readonly unknown[]): boolean {
  if (row.length !== stored.length) return false;
  for (let index = 0; index < row.length; index += 1) {
    // JSON stores an item that is `undefined` as null.
    if (row[index] === undefined || !isSameRow(row[index], stored[index])) return false;
  }
  return true;
}
