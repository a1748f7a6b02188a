/**
 * The settings after an update. A given object is merged with the stored one, field by field. A given list or
 * scalar replaces the stored one, and so does an object under a key of `replaced`.
 */
export function mergeSettings<T extends object>(stored: T, given: T, replaced: readonly (keyof T)[]): T {
  const merged = Object.entries(given).map(([key, value]) => {
    const previous: unknown = stored[key as keyof T];
    const merges = isObject(previous) && isObject(value) && !replaced.includes(key as keyof T);
    return [key, merges ? { ...previous, ...value } : value];
  });
  return { ...stored, ...Object.fromEntries(merged) };
}

/** Whether two JSON values are equal. The order of properties does not matter; an undefined one is absent. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => isSameJson(item, other[index]));
  if (!isObject(one) || !isObject(other)) return one === other;
  return [...Object.keys(one), ...Object.keys(other)].every((key) => isSameJson(one[key], other[key]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
