import { PUBLIC_OPERATIONS } from "./public-operations.ts";

/** Ids of the operations of the public document, by the path of their route behind the base URL, then by method. */
const BY_ROUTE = new Map<string, Map<string, string>>();
for (const { method, path, operationId } of PUBLIC_OPERATIONS) {
  const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const methods = BY_ROUTE.get(route) ?? new Map<string, string>();
  BY_ROUTE.set(route, methods.set(method, operationId));
}

const BASE = /^(\/w\/:world)?\/api\/v2/;

/** Routes as they are mounted: looked at once, for there are as many as paths in the document. */
const MOUNTED = new Map<string, ReadonlyMap<string, string>>();

/** The operationId of a route; `undefined` where the public document has none for it. */
export function operationAt(method: string, routePath: string): string | undefined {
  let methods = MOUNTED.get(routePath);
  if (methods === undefined) {
    methods = BY_ROUTE.get(routePath.replace(BASE, "")) ?? new Map();
    MOUNTED.set(routePath, methods);
  }
  return methods.get(method === "HEAD" ? "GET" : method);
}
