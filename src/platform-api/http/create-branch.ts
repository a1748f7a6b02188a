import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { requiredEvent } from "../../http/required-event.ts";
import type { NewServiceRecord } from "../../platform/model/service-record.ts";
import { rolesWithSecretAfter } from "../../platform/rules/branch/role.ts";
import { defaultBranchOf, findProject } from "../../platform/world/lookup.ts";
import { renderBranch, renderDatabase, renderRole } from "../render/render-branch.ts";
import { renderChangedEndpoint } from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";
import { issuePassword } from "./passwords.ts";
import { atMostOne, computeFields, computeOptions, computeType, lsn, name } from "./request-fields.ts";
import type { RequestContext } from "./route.ts";

/** Options that a caller chooses for a new branch. */
export const branchCreation = {
  endpoints: z
    .array(z.object({ type: computeType, ...computeFields }))
    .max(100)
    .optional(),
  branch: z
    .object({
      name: name.optional(),
      // S: "if omitted or empty, the branch will be created from the project's default branch".
      parent_id: z.union([id, z.literal("")], "must be 1 to 60 of a-z, 0-9 and -, or empty").optional(),
      parent_lsn: lsn.optional(),
      parent_timestamp: instant.optional(),
      protected: z.boolean().optional(),
      archived: z.boolean().optional(),
      init_source: z.enum(["parent-data", "schema-only"]).optional(),
      expires_at: instant.optional(),
    })
    .refine(...atMostOne("parent_lsn", "parent_timestamp"))
    .optional(),
};
type BranchCreation = Partial<z.output<z.ZodObject<typeof branchCreation>>> & {
  readonly annotation_value?: Readonly<Record<string, string>> | undefined;
};

const ARCHIVED: NewServiceRecord = { kind: "archived", settings: {} };

/** Creates a branch with these service records, and returns the body of the response. */
export function createBranch(
  {
    account,
    params,
    transaction,
    connectionUris,
    writtenAt,
    execute,
  }: RequestContext<{ project_id: string }, unknown, unknown>,
  input: BranchCreation,
  services: readonly NewServiceRecord[] = [],
) {
  const { world, now } = transaction;
  const { branch: branchInput } = input;
  const lastRoleNumber = world.numbers.role;
  const parentId = branchInput?.parent_id === "" ? undefined : branchInput?.parent_id;
  const events = execute({
    type: "CreateBranch",
    accountId: account.id,
    projectId: params.project_id,
    name: branchInput?.name,
    parentId,
    parentLsn: branchInput?.parent_lsn,
    parentWrittenAt: writtenAt(
      parentId ?? defaultBranchOf(world, params.project_id)?.id,
      branchInput?.parent_lsn,
    ),
    parentTimestamp: branchInput?.parent_timestamp,
    expiresAt: branchInput?.expires_at,
    protected: branchInput?.protected,
    initSource: branchInput?.init_source,
    annotations: input.annotation_value,
    services: [...(branchInput?.archived === true ? [ARCHIVED] : []), ...services],
    computes: input.endpoints?.map((endpoint) => ({
      computeType: endpoint.type,
      options: computeOptions(endpoint),
    })),
  });
  const { branch } = requiredEvent(events, "BranchCreated");
  const project = unwrap(findProject(world, account.id, branch.projectId));
  const passwords = new Map(
    rolesWithSecretAfter(branch.roles, lastRoleNumber).map((role) => [
      role.secretId,
      issuePassword(transaction, project, role),
    ]),
  );
  const passwordOf = (secretId: string) => passwords.get(secretId) ?? transaction.readSecret(secretId);
  const computes = events.flatMap((event) => (event.type === "ComputeCreated" ? [event.compute] : []));
  const uris = computes
    .slice(0, 1)
    .flatMap((compute) => connectionUris.ofBranch(world, branch, compute, passwordOf));
  return {
    branch: renderBranch(world, branch, now),
    endpoints: computes.map((compute) => renderChangedEndpoint(world, compute, now)),
    operations: renderScheduledOperations(events, now),
    roles: branch.roles.map((role) => renderRole(branch, role, passwords.get(role.secretId))),
    databases: branch.databases.map((database) => renderDatabase(branch, database)),
    connection_uris: uris.length === 0 ? undefined : uris,
  };
}
