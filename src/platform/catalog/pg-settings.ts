/**
 * Who decides a Postgres setting that a client may not: a sentence for the refusal, `undefined` where it is the client's own. R: the two
 * sizes are the platform's. S: the other two have fields of their own. That setting them is an error, and not ignored, is A.
 * Names of settings are without case, as in Postgres.
 */
export function ownerOfPgSetting(name: string): string | undefined {
  return OWNERS.get(name.toLowerCase());
}

const OWNERS: ReadonlyMap<string, string> = new Map([
  ["max_connections", "the platform sets it by the minimum size of the compute"],
  ["shared_buffers", "the platform sets it, to 128MB"],
  ["wal_level", "it follows the project's settings.enable_logical_replication"],
  ["shared_preload_libraries", "libraries are chosen by preload_libraries"],
]);
