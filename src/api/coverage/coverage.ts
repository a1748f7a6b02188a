import { routeFamilies } from "../app.ts";
import { RouteHandlers } from "../http/request-context.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { servedOperations } from "./served-operations.ts";

/** Whether one operation of the public document is served. */
type OperationCoverage = {
  readonly operation_id: string;
  readonly method: string;
  readonly path: string;
  readonly coverage: "served" | "refused";
  /** The status of a refused operation. */
  readonly status?: 501;
};

/** Every operation of the public document: one table for `GET /_sim/coverage` and the coverage page. */
export function coverage() {
  const unused = (): never => {
    throw new Error("the routes are only listed, never called");
  };
  const served = servedOperations(
    routeFamilies(new RouteHandlers({ worldOf: unused, rateLimit: false, onBug: unused })),
  );
  const operations = PUBLIC_OPERATIONS.map(
    ({ operationId, method, path }): OperationCoverage => ({
      operation_id: operationId,
      method,
      path,
      ...(served.has(operationId) ? { coverage: "served" } : { coverage: "refused", status: 501 }),
    }),
  );
  return { served: served.size, refused: operations.length - served.size, operations };
}
