import type { Chance } from "./chance.ts";
import { ADJECTIVES, NOUNS } from "./words.ts";

/** S: the real shapes are `spring-example-302709`, `br-wispy-meadow-118737`, `ep-silent-smoke-806639`; eight digits leave room. */
export type NamedKind = "project" | "branch" | "endpoint";

const PREFIX: Readonly<Record<NamedKind, string>> = { project: "", branch: "br-", endpoint: "ep-" };

/** The id of the `number`-th object of its kind; `taken` says which ones are in use already (pinned ids may collide). */
export function drawId(chance: Chance, kind: NamedKind, number: number, taken: (id: string) => boolean): string {
  const source = chance.source(`${kind}-id`, number);
  for (;;) {
    const id = `${PREFIX[kind]}${pick(ADJECTIVES, source)}-${pick(NOUNS, source)}-${10_000_000 + (source() % 90_000_000)}`;
    if (!taken(id)) return id;
  }
}

/** A version 4 UUID drawn from a named stream. */
export function drawUuid(chance: Chance, stream: string, number: number): string {
  const source = chance.source(stream, number);
  const [a, b, c, d] = [source(), source(), source(), source()];
  const version = (b & 0xffff_0fff) | 0x4000;
  const variant = (c & 0x3fff_ffff) | 0x8000_0000;
  return `${half(a >>> 16)}${half(a)}-${half(version >>> 16)}-${half(version)}-${half(variant >>> 16)}-${half(variant)}${half(d >>> 16)}${half(d)}`;
}

const BYTES = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** The lower 16 bits in hexadecimal. Every operation has such an id, so it is made without arithmetic on text. */
function half(word: number): string {
  return `${BYTES[(word >>> 8) & 0xff]}${BYTES[word & 0xff]}`;
}

function pick(words: readonly string[], source: () => number): string {
  return words[source() % words.length] as string;
}
