/** One of several parts of the same work, such as the first of three: `1/3`. */
export type Shard = { readonly index: number; readonly of: number };

/** Largest number of parts. */
export const MAX_SHARDS = 1_000;

/** `undefined` if the text is not a shard. */
export function parseShard(text: string): Shard | undefined {
  const [, index, of] = /^(\d{1,4})\/(\d{1,4})$/.exec(text)?.map(Number) ?? [];
  if (index === undefined || of === undefined) return undefined;
  return index >= 1 && index <= of && of <= MAX_SHARDS ? { index, of } : undefined;
}

/** Consecutive runs; the shards differ by one run at most, and together have every run once, in order. */
export function runsOfShard<T>(runs: readonly T[], { index, of }: Shard): readonly T[] {
  const end = (shard: number) => Math.floor((shard * runs.length) / of);
  return runs.slice(end(index - 1), end(index));
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Whether a compute belongs to the shard: by a hash of its name, so that each one is in exactly one shard. */
export function isOfShard(name: string, { index, of }: Shard): boolean {
  return nameHash(name) % of === index - 1;
}

/** A whole number below 2 ** 32. */
export function nameHash(name: string): number {
  let hash = FNV_OFFSET;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), FNV_PRIME);
  // The low bits of the hash of similar names are similar.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}
