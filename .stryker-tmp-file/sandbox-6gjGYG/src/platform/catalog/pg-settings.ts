/**
 * Why a client may not set a Postgres setting, for the error message; `undefined` if it may. R: the platform
 * sets the two sizes. S: the other two have fields of their own. A: setting them is an error. Names are
 * case-insensitive.
 */
// @ts-nocheck

export function ownerOfPgSetting(name: string): string | undefined {
  return OWNERS.get(name.toLowerCase());
}

const OWNERS: ReadonlyMap<string, string> = new Map([
  ["max_connections", "the platform sets it from the minimum size of the compute"],
  ["shared_buffers", "the platform sets it, to 128MB"],
  ["wal_level", "it follows the project's settings.enable_logical_replication"],
  ["shared_preload_libraries", "libraries are chosen by preload_libraries"],
]);
