import { routeFamilies } from "../app.ts";
import { RouteHandlers } from "../http/request-context.ts";
import { CLIENT_OPERATIONS } from "./client-operations.ts";
import { NOT_ENABLED } from "./not-enabled.ts";
import { PUBLIC_OPERATIONS, type PublicOperation } from "./public-operations.ts";
import { servedOperations } from "./served-operations.ts";

/** Whether one operation is served. */
type OperationCoverage = {
  readonly operation_id: string;
  readonly method: string;
  readonly path: string;
  readonly coverage: "served" | "refused";
  /** The status of a refused operation: 404 if it reads a service that cannot be enabled. */
  readonly status?: 404 | 501;
};

/** Every operation of the public document and of newer or older clients: one table for `GET /_sim/coverage` and the coverage page. */
export function coverage() {
  const unused = (): never => {
    throw new Error("the routes are only listed, never called");
  };
  const served = servedOperations(
    routeFamilies(
      new RouteHandlers({
        worldOf: unused,
        defaultWorld: unused,
        rateLimit: false,
        countUnauthorized: unused,
        onBug: unused,
      }),
    ),
  );
  const coverageOf = ({ operationId, method, path }: PublicOperation): OperationCoverage => ({
    operation_id: operationId,
    method,
    path,
    ...(served.has(operationId)
      ? { coverage: "served" }
      : { coverage: "refused", status: operationId in NOT_ENABLED ? 404 : 501 }),
  });
  const operations = PUBLIC_OPERATIONS.map(coverageOf);
  const servedCount = operations.filter((operation) => operation.coverage === "served").length;
  return {
    served: servedCount,
    refused: operations.length - servedCount,
    operations,
    /** Operations that clients call, but that the public document lacks. */
    client_operations: CLIENT_OPERATIONS.map(coverageOf),
  };
}
