/** Most sources that an error lists. */
const MAX_NAMED = 10;

/** The position of a source. Throws a RangeError if no request has it. */
export function namedSource(name: string, sources: readonly string[], field: string): number {
  const position = name === "" ? -1 : sources.indexOf(name);
  if (position >= 0) return position;
  const named = sources.filter((source) => source !== "");
  const more = named.length > MAX_NAMED ? `, and ${named.length - MAX_NAMED} more` : "";
  throw new RangeError(
    named.length === 0
      ? `${field}: no request names a source, so none is from "${name}"`
      : `${field}: no request has the source "${name}"; there are ${named.slice(0, MAX_NAMED).join(", ")}${more}`,
  );
}
