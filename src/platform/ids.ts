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
  const hex = [source(), source(), source(), source()].map((word) => word.toString(16).padStart(8, "0")).join("");
  const variant = "89ab"[Number.parseInt(hex[16] ?? "0", 16) % 4];
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function pick(words: readonly string[], source: () => number): string {
  return words[source() % words.length] as string;
}
