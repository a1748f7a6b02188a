import { PUBLIC_OPERATIONS, type PublicOperation } from "./public-operations.ts";

/**
 * Operations that public clients call and that the public document of `@neondatabase/api-client` 2.7.3 lacks.
 * `test/contract/clients/client-operations.test.ts` compares the list with the installed clients.
 */
export const CLIENT_OPERATIONS: readonly PublicOperation[] = [
  // C: `@neon/sdk` 6.1.2, which is newer than the document.
  ...operations({
    "GET /projects/{project_id}/members": "listProjectMembers",
    "PUT /projects/{project_id}/members/{member_id}/role": "setProjectMemberRole",
    "DELETE /projects/{project_id}/members/{member_id}/role": "removeProjectMemberRole",
    "POST /projects/{project_id}/branches/{branch_id}/auth/email_provider/test":
      "sendNeonAuthEmailProviderTest",
    "POST /projects/{project_id}/branches/{branch_id}/logs/query": "queryProjectBranchLogs",
    "GET /projects/{project_id}/branches/{branch_id}/logs/fields": "listProjectBranchLogFields",
    "GET /projects/{project_id}/branches/{branch_id}/logs/fields/{field_name}/values":
      "listProjectBranchLogFieldValues",
    "POST /projects/{project_id}/branches/{branch_id}/credentials/{token_id}/reveal": "revealCredential",
    "POST /projects/{project_id}/branches/{branch_id}/credentials/{token_id}/rotate": "rotateCredential",
    "GET /projects/{project_id}/branches/{branch_id}/triggers": "listProjectBranchTriggers",
    "POST /projects/{project_id}/branches/{branch_id}/triggers": "createProjectBranchTrigger",
    "GET /projects/{project_id}/branches/{branch_id}/triggers/{trigger_id}": "getProjectBranchTrigger",
    "PATCH /projects/{project_id}/branches/{branch_id}/triggers/{trigger_id}": "updateProjectBranchTrigger",
    "DELETE /projects/{project_id}/branches/{branch_id}/triggers/{trigger_id}": "deleteProjectBranchTrigger",
    "GET /projects/{project_id}/branches/{branch_id}/custom-domains": "listProjectBranchCustomDomains",
    "POST /projects/{project_id}/branches/{branch_id}/custom-domains": "registerProjectBranchCustomDomain",
    "DELETE /projects/{project_id}/branches/{branch_id}/custom-domains/{domain}":
      "deleteProjectBranchCustomDomain",
  }),
  // C: the platform's own test suite of random operations. A: their ids.
  ...operations({
    "GET /projects/{project_id}/limits": "getProjectLimits",
    "POST /projects/{project_id}/branches/{branch_id}/reset_to_parent": "resetProjectBranchToParent",
  }),
  // D: in older documents; removed from the newer ones.
  ...operations({ "GET /consumption_history/account": "getConsumptionHistoryPerAccount" }),
];

/** Every operation that gets an answer other than 404 `UNKNOWN_PATH`. */
export const KNOWN_OPERATIONS: readonly PublicOperation[] = [...PUBLIC_OPERATIONS, ...CLIENT_OPERATIONS];

function operations(idByRoute: Readonly<Record<string, string>>): PublicOperation[] {
  return Object.entries(idByRoute).map(([route, operationId]) => {
    const [method = "", path = ""] = route.split(" ");
    return { method, path, operationId };
  });
}
