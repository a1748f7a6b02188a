import { KNOWN_OPERATIONS } from "./client-operations.ts";

/** Ids of known operations, by route path below the base URL, then by method. */
const OPERATION_IDS_BY_ROUTE = new Map<string, Map<string, string>>();
for (const { method, path, operationId } of KNOWN_OPERATIONS) {
  const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const methods = OPERATION_IDS_BY_ROUTE.get(route) ?? new Map<string, string>();
  OPERATION_IDS_BY_ROUTE.set(route, methods.set(method, operationId));
}

const BASE_PATH = /^(\/w\/:world)?\/api\/v2/;

/** Caches the lookup by mounted route. Bounded: there is one route per path of a known operation. */
const METHODS_BY_MOUNTED_ROUTE = new Map<string, ReadonlyMap<string, string>>();

/** The operation id of a route; `undefined` if the path is unknown. */
export function operationIdOf(method: string, routePath: string): string | undefined {
  let methods = METHODS_BY_MOUNTED_ROUTE.get(routePath);
  if (methods === undefined) {
    methods = OPERATION_IDS_BY_ROUTE.get(routePath.replace(BASE_PATH, "")) ?? new Map();
    METHODS_BY_MOUNTED_ROUTE.set(routePath, methods);
  }
  return methods.get(method === "HEAD" ? "GET" : method);
}
