import { ADJECTIVES, NOUNS } from "./id-words.ts";
import type { Random } from "./random-port.ts";

/** S: the pattern of all ids, except those of keys and operations. */
export const ID_PATTERN = /^[a-z0-9-]{1,60}$/;
export const ID_RULE = "must be 1 to 60 of a-z, 0-9 and -";

export type NamedKind = "project" | "branch" | "endpoint" | "snapshot";

const PREFIX: Readonly<Record<NamedKind, string>> = {
  project: "",
  branch: "br-",
  endpoint: "ep-",
  snapshot: "snap-",
};

/**
 * The id of the `number`-th object of a kind. Skips ids in use, because callers can choose ids as well.
 *
 * D: since 2024, `br-spring-rice-a5g82f1f` and `ep-dawn-king-a527wlyu`: the last part begins with the two
 * characters of the region (`regionCode`). A project has eight digits, of which the first may be 0. Without a
 * `regionCode`, ids have eight digits that do not begin with 0, as in worlds of releases up to 0.4. So have those
 * of snapshots (A).
 */
export function drawId(
  random: Random,
  kind: NamedKind,
  number: number,
  isTaken: (id: string) => boolean,
  regionCode?: string,
): string {
  const stream = random.stream(`${kind}-id`, number);
  const drawLastPart = LAST_PART[regionCode === undefined ? "snapshot" : kind];
  for (;;) {
    const words = `${PREFIX[kind]}${pickWord(ADJECTIVES, stream)}-${pickWord(NOUNS, stream)}`;
    const id = `${words}-${drawLastPart(stream, regionCode ?? "")}`;
    if (!isTaken(id)) return id;
  }
}

type DrawLastPart = (stream: () => number, regionCode: string) => string;

const drawRegional: DrawLastPart = (stream, regionCode) =>
  `${regionCode}${drawCharacters(stream)}${drawCharacters(stream)}`;

const LAST_PART: Readonly<Record<NamedKind, DrawLastPart>> = {
  project: (stream) => String(stream() % 100_000_000).padStart(8, "0"),
  branch: drawRegional,
  endpoint: drawRegional,
  snapshot: (stream) => String(10_000_000 + (stream() % 90_000_000)),
};

/** Three of a-z and 0-9. */
function drawCharacters(stream: () => number): string {
  return (stream() % 36 ** 3).toString(36).padStart(3, "0");
}

/** A version 4 UUID drawn from a named stream. */
export function drawUuid(random: Random, name: string, number: number): string {
  const stream = random.stream(name, number);
  return uuidFrom(stream(), stream(), stream(), stream());
}

/** A UUID that depends on the text alone, for objects without a row that could store an id. */
export function uuidOf(text: string): string {
  const [a, b, c, d] = [0, 1, 2, 3].map((word) => {
    let hash = 0x811c9dc5 ^ Math.imul(word + 1, 0x9e3779b1);
    for (let index = 0; index < text.length; index += 1)
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    return hash ^ (hash >>> 13);
  }) as [number, number, number, number];
  return uuidFrom(a, b, c, d);
}

export function drawOperationId(random: Random, number: number): string {
  return drawUuid(random, "operation-id", number);
}

/** Drawn for every operation, so it builds the text from character codes instead of allocating parts. */
function uuidFrom(a: number, b: number, c: number, d: number): string {
  const version = (b & 0xffff_0fff) | 0x4000;
  const variant = (c & 0x3fff_ffff) | 0x8000_0000;
  // biome-ignore format: a row for each part
  return String.fromCharCode(
    digit(a, 28), digit(a, 24), digit(a, 20), digit(a, 16), digit(a, 12), digit(a, 8), digit(a, 4), digit(a, 0), HYPHEN,
    digit(version, 28), digit(version, 24), digit(version, 20), digit(version, 16), HYPHEN,
    digit(version, 12), digit(version, 8), digit(version, 4), digit(version, 0), HYPHEN,
    digit(variant, 28), digit(variant, 24), digit(variant, 20), digit(variant, 16), HYPHEN,
    digit(variant, 12), digit(variant, 8), digit(variant, 4), digit(variant, 0),
    digit(d, 28), digit(d, 24), digit(d, 20), digit(d, 16), digit(d, 12), digit(d, 8), digit(d, 4), digit(d, 0),
  );
}

const HYPHEN = 0x2d;
const DIGITS = Uint8Array.from("0123456789abcdef", (character) => character.charCodeAt(0));

/** The character code of the hexadecimal digit whose lowest bit is `bit`. */
function digit(word: number, bit: number): number {
  return DIGITS[(word >>> bit) & 0xf] as number;
}

function pickWord(words: readonly string[], stream: () => number): string {
  return words[stream() % words.length] as string;
}
