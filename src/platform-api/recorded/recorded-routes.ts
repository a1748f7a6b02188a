import type { ApiRoute } from "../http/route.ts";
import { ANONYMIZATION_OPERATIONS } from "./anonymization-operations.ts";
import { anonymizedBranchRoutes } from "./anonymized-branches.ts";
import { AUTH_CONFIGURATIONS } from "./auth-configurations.ts";
import { AUTH_OPERATIONS } from "./auth-operations.ts";
import { branchStorageRoutes } from "./branch-storage.ts";
import { recordedOperationRoutes } from "./recorded-operation.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";

/** The routes whose input is validated, stored and returned, without an effect. */
export function recordedRoutes(): readonly ApiRoute[] {
  return [
    ...recordedOperationRoutes([
      ...AUTH_OPERATIONS,
      ...AUTH_CONFIGURATIONS,
      ...SERVICE_OPERATIONS,
      ...ANONYMIZATION_OPERATIONS,
    ]),
    ...anonymizedBranchRoutes(),
    ...branchStorageRoutes(),
  ];
}
