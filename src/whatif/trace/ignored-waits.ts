import { namedSource } from "./named-source.ts";

/** By position of a source: 1 if nobody waits for its requests, as for a health check. */
export type IgnoredSources = Uint8Array;

/**
 * The ignored sources by position; undefined if all waits count. Throws a RangeError if no request has one of the
 * names.
 */
export function ignoredSources(
  names: readonly string[],
  sources: readonly string[],
  field = "ignore_waits_of",
): IgnoredSources | undefined {
  if (names.length === 0) return undefined;
  const ignored = new Uint8Array(sources.length);
  for (const name of names) ignored[namedSource(name, sources, field)] = 1;
  return ignored;
}

/** `source`: the sources of all requests, absent if they name none. */
export function isIgnored(
  ignored: IgnoredSources | undefined,
  source: ArrayLike<number> | undefined,
  request: number,
): boolean {
  return ignored !== undefined && ignored[source?.[request] ?? 0] === 1;
}
