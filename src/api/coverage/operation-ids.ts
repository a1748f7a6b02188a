import { PUBLIC_OPERATIONS } from "./public-operations.ts";

/** Ids of the operations of the public document, by the path of their route behind the base URL, then by method. */
const OPERATION_IDS_BY_ROUTE = new Map<string, Map<string, string>>();
for (const { method, path, operationId } of PUBLIC_OPERATIONS) {
  const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const methods = OPERATION_IDS_BY_ROUTE.get(route) ?? new Map<string, string>();
  OPERATION_IDS_BY_ROUTE.set(route, methods.set(method, operationId));
}

const BASE_PATH = /^(\/w\/:world)?\/api\/v2/;

/** Routes as they are mounted: looked at once, for there are as many as paths in the document. */
const METHODS_BY_MOUNTED_ROUTE = new Map<string, ReadonlyMap<string, string>>();

/** The operationId of a route; `undefined` where the public document has none for it. */
export function operationIdOf(method: string, routePath: string): string | undefined {
  let methods = METHODS_BY_MOUNTED_ROUTE.get(routePath);
  if (methods === undefined) {
    methods = OPERATION_IDS_BY_ROUTE.get(routePath.replace(BASE_PATH, "")) ?? new Map();
    METHODS_BY_MOUNTED_ROUTE.set(routePath, methods);
  }
  return methods.get(method === "HEAD" ? "GET" : method);
}
