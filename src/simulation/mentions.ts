/** Whether a text or the name of a field in the value is this id. */
export function mentions(value: unknown, id: string): boolean {
  if (typeof value === "string") return value === id;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => mentions(item, id));
  for (const field in value) {
    const part = (value as Record<string, unknown>)[field];
    if (mentions(part, id) || (field === id && part !== undefined)) return true;
  }
  return false;
}
