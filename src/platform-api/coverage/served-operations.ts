import { KNOWN_OPERATIONS } from "./client-operations.ts";

/** Ids of the known operations that these routes serve. */
export function servedOperations(
  routes: readonly { readonly method: string; readonly path: string }[],
): Set<string> {
  const served = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  return new Set(
    KNOWN_OPERATIONS.filter(({ method, path }) =>
      served.has(`${method} ${path.replaceAll(/\{(\w+)\}/g, ":$1")}`),
    ).map(({ operationId }) => operationId),
  );
}
