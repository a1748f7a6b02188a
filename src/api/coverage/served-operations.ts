import type { Hono } from "hono";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";

/** Ids of the public operations that these routes serve. */
export function servedOperations(families: readonly Hono[]): Set<string> {
  const routes = new Set(
    families.flatMap((family) => family.routes.map(({ method, path }) => `${method} ${path}`)),
  );
  return new Set(
    PUBLIC_OPERATIONS.filter(({ method, path }) =>
      routes.has(`${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    ).map(({ operationId }) => operationId),
  );
}
