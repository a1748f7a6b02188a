import type { Hono } from "hono";
import { KNOWN_OPERATIONS } from "./client-operations.ts";

/** Ids of the known operations that these routes serve. */
export function servedOperations(families: readonly Hono[]): Set<string> {
  const routes = new Set(
    families.flatMap((family) => family.routes.map(({ method, path }) => `${method} ${path}`)),
  );
  return new Set(
    KNOWN_OPERATIONS.filter(({ method, path }) =>
      routes.has(`${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    ).map(({ operationId }) => operationId),
  );
}
