/** A place in Postgres where a client can store code that other sessions may run. */
export type Place = {
  readonly name: string;
  /** Statements of the owner of the database. Each calls `adversary.observe`, or lets something call it. */
  readonly sql: string;
  /** The first major version that has such a place. */
  readonly since?: number;
};

/** A call that names its place in what it records. */
export function observe(place: string): string {
  return `adversary.observe('${place.replaceAll("'", "''")}')`;
}
