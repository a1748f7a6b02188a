import { routeFamilies } from "../app.ts";
import { RouteHandlers } from "../http/request-context.ts";
import { EVIDENCE } from "./coverage-evidence.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { servedOperations } from "./served-operations.ts";

/** What becomes of one operation of the public document, what proves it, and which public clients drive it. */
type OperationCoverage = {
  readonly operation_id: string;
  readonly method: string;
  readonly path: string;
  readonly coverage: "served" | "refused";
  /** The status of a refusal. */
  readonly status?: 501;
  readonly test: string | null;
  readonly clients: readonly string[];
};

/** Every operation of the public document: one table for `/_sim/coverage` and docs/reference/coverage.md. */
export function coverage() {
  const unused = (): never => {
    throw new Error("nobody asks these routes anything");
  };
  const served = servedOperations(
    routeFamilies(new RouteHandlers({ worldOf: unused, rateLimit: false, onBug: unused })),
  );
  const operations = PUBLIC_OPERATIONS.map(({ operationId, method, path }): OperationCoverage => {
    const { test, clients } = EVIDENCE[operationId] ?? { test: null, clients: [] };
    const isServed = served.has(operationId);
    return {
      operation_id: operationId,
      method,
      path,
      coverage: isServed ? "served" : "refused",
      ...(isServed ? {} : { status: 501 }),
      test: isServed ? test : REFUSALS_TEST,
      clients: isServed ? clients : [],
    };
  });
  return { served: served.size, refused: operations.length - served.size, operations };
}

const REFUSALS_TEST = "test/contract/coverage.test.ts";
