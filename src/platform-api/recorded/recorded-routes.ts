import type { ApiRoute } from "../http/route.ts";
import { ANONYMIZATION_OPERATIONS } from "./anonymization-operations.ts";
import { anonymizedBranchRoutes } from "./anonymized-branches.ts";
import { AUTH_CONFIGURATIONS } from "./auth-configurations.ts";
import { AUTH_OPERATIONS } from "./auth-operations.ts";
import { AUTH_USER_OPERATIONS } from "./auth-users.ts";
import { branchLogRoutes } from "./branch-logs.ts";
import { branchStorageRoutes } from "./branch-storage.ts";
import { CREDENTIAL_OPERATIONS } from "./credentials.ts";
import { CUSTOM_DOMAIN_OPERATIONS } from "./custom-domains.ts";
import { FUNCTION_OPERATIONS } from "./functions.ts";
import { BODY_AUTH_OPERATIONS, PROJECT_AUTH_OPERATIONS } from "./project-auth.ts";
import { IN_BODY, ON_PROJECT } from "./record-place.ts";
import { recordedOperationRoutes } from "./recorded-operation.ts";
import { SERVICE_OPERATIONS } from "./service-operations.ts";
import { TEST_EMAIL_OPERATIONS } from "./test-emails.ts";
import { TRIGGER_OPERATIONS } from "./triggers.ts";

/** The routes whose input is validated, stored and returned, without an effect. */
export function recordedRoutes(): readonly ApiRoute[] {
  return [
    ...recordedOperationRoutes([
      ...AUTH_OPERATIONS,
      ...AUTH_CONFIGURATIONS,
      ...AUTH_USER_OPERATIONS,
      ...TEST_EMAIL_OPERATIONS,
      ...SERVICE_OPERATIONS,
      ...CREDENTIAL_OPERATIONS,
      ...FUNCTION_OPERATIONS,
      ...TRIGGER_OPERATIONS,
      ...CUSTOM_DOMAIN_OPERATIONS,
      ...ANONYMIZATION_OPERATIONS,
    ]),
    ...recordedOperationRoutes(PROJECT_AUTH_OPERATIONS, ON_PROJECT),
    ...recordedOperationRoutes(BODY_AUTH_OPERATIONS, IN_BODY),
    ...anonymizedBranchRoutes(),
    ...branchStorageRoutes(),
    ...branchLogRoutes(),
  ];
}
