import { type Ids, UNKNOWN_IDS } from "../document/contract-scene.ts";

type Draw = (below: number) => number;

/** Where answers have the ids that later calls need: the property of the object or list, and its field. */
const PLACES: readonly (readonly [keyof Ids, readonly string[], string])[] = [
  ["branch_id", ["branch", "branches"], "id"],
  ["endpoint_id", ["endpoint", "endpoints"], "id"],
  ["operation_id", ["operation", "operations"], "id"],
  ["role_name", ["role", "roles"], "name"],
  ["database_name", ["database", "databases"], "name"],
  ["snapshot_id", ["snapshot", "snapshots"], "id"],
  ["jwks_id", ["jwks"], "id"],
  ["permission_id", ["permissions"], "id"],
  ["org_id", ["organizations"], "id"],
  ["region_id", ["regions"], "region_id"],
  ["bucket_name", ["bucket", "buckets"], "name"],
  ["object_key", ["objects"], "key"],
  ["token_id", ["credentials"], "token_id"],
  ["slug", ["functions"], "slug"],
];
/** Maximum number of known ids of each kind. Older ones are forgotten, so that most drawn ids still exist. */
const MAX_KNOWN = 6;
/** One of this many drawn ids does not exist. */
const UNKNOWN_IN = 12;

/** Ids in answers about one project, newest last. */
export class KnownIds {
  readonly #known = new Map<keyof Ids, string[]>();
  readonly #draw: Draw;

  constructor(draw: Draw) {
    this.#draw = draw;
  }

  add(kind: keyof Ids, id: string): void {
    const known = this.#known.get(kind) ?? [];
    this.#known.set(kind, [...known.filter((other) => other !== id), id].slice(-MAX_KNOWN));
  }

  /** Remembers the ids of an answer. */
  learn(body: unknown): void {
    if (typeof body !== "object" || body === null) return;
    for (const [kind, properties, field] of PLACES) {
      for (const property of properties) {
        for (const item of [(body as Record<string, unknown>)[property]].flat()) {
          const id = (item as Record<string, unknown> | null | undefined)?.[field];
          if (typeof id === "string") this.add(kind, id);
        }
      }
    }
  }

  one(kind: keyof Ids): string {
    const known = this.#known.get(kind) ?? [];
    const isUnknown = known.length === 0 || (kind !== "project_id" && this.#draw(UNKNOWN_IN) === 0);
    return (isUnknown ? undefined : known[this.#draw(known.length)]) ?? UNKNOWN_IDS[kind];
  }

  /** One of each kind. */
  all(): Ids {
    const kinds = Object.keys(UNKNOWN_IDS) as (keyof Ids)[];
    return Object.fromEntries(kinds.map((kind) => [kind, this.one(kind)])) as Ids;
  }
}
