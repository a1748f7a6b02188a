import { imitatedRoutes } from "./app.ts";
import { CLIENT_OPERATIONS } from "./coverage/client-operations.ts";
import { PUBLIC_OPERATIONS, type PublicOperation } from "./coverage/public-operations.ts";
import { servedOperations } from "./coverage/served-operations.ts";
import { recordedRoutes } from "./recorded/recorded-routes.ts";

/**
 * How far an operation is served. `imitated`: it behaves as on the real platform. `recorded`: its input is
 * validated, stored and returned, and has no other effect. `refused`: it answers 501.
 */
type OperationCoverage = {
  readonly operation_id: string;
  readonly method: string;
  readonly path: string;
  readonly coverage: "imitated" | "recorded" | "refused";
};

/** Every operation of the public document and of newer or older clients: one table for `GET /_sim/coverage` and the coverage page. */
export function coverage() {
  const imitated = servedOperations(imitatedRoutes());
  const recorded = servedOperations(recordedRoutes());
  const coverageOf = ({ operationId, method, path }: PublicOperation): OperationCoverage => ({
    operation_id: operationId,
    method,
    path,
    coverage: imitated.has(operationId) ? "imitated" : recorded.has(operationId) ? "recorded" : "refused",
  });
  const operations = PUBLIC_OPERATIONS.map(coverageOf);
  const count = (what: OperationCoverage["coverage"]) =>
    operations.filter((operation) => operation.coverage === what).length;
  return {
    imitated: count("imitated"),
    recorded: count("recorded"),
    refused: count("refused"),
    operations,
    /** Operations that clients call, but that the public document lacks. */
    client_operations: CLIENT_OPERATIONS.map(coverageOf),
  };
}
