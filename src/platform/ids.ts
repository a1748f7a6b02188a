import type { Chance } from "./chance.ts";
import { ADJECTIVES, NOUNS } from "./words.ts";

/** S: the real shapes are `spring-example-302709`, `br-wispy-meadow-118737`, `ep-silent-smoke-806639`; eight digits leave room. */
export type NamedKind = "project" | "branch" | "endpoint" | "snapshot";

const PREFIX: Readonly<Record<NamedKind, string>> = { project: "", branch: "br-", endpoint: "ep-", snapshot: "snap-" };

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
  return uuidFrom(source(), source(), source(), source());
}

/** The same UUID for the same text, in all worlds: for what has no row to keep an id in. */
export function uuidOf(text: string): string {
  const [a, b, c, d] = [0, 1, 2, 3].map((word) => {
    let hash = 0x811c9dc5 ^ Math.imul(word + 1, 0x9e3779b1);
    for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return hash ^ (hash >>> 13);
  }) as [number, number, number, number];
  return uuidFrom(a, b, c, d);
}

export function drawOperationId(chance: Chance, number: number): string {
  return drawUuid(chance, "operation-id", number);
}

function uuidFrom(a: number, b: number, c: number, d: number): string {
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
