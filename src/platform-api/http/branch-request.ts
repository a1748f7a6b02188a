import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type { Command } from "../../platform/rules/commands.ts";
import { findBranch, findProject } from "../../platform/world/lookup.ts";
import { renderBranch } from "../render/render-branch.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";
import type { RequestContext } from "./route.ts";

export const branchParams = z.object({ project_id: id, branch_id: id });
export type BranchRequest = RequestContext<z.output<typeof branchParams>, unknown, unknown>;

export function branchTarget({ account, params }: BranchRequest) {
  return { accountId: account.id, projectId: params.project_id, branchId: params.branch_id };
}

export function requestedBranch(request: BranchRequest): Branch {
  const { account, params, transaction } = request;
  return unwrap(
    findBranch(
      transaction.world,
      unwrap(findProject(transaction.world, account.id, params.project_id)),
      params.branch_id,
    ),
  );
}

type BranchChange = Extract<
  Command,
  { type: "SetDefaultBranch" | "UpdateBranch" | "RestoreBranch" | "ResetBranchToParent" }
>;
type WithoutTarget<C> = C extends BranchChange ? Omit<C, "accountId" | "projectId" | "branchId"> : never;

export function changeBranch(request: BranchRequest, command: WithoutTarget<BranchChange>) {
  const events = request.execute({ ...branchTarget(request), ...command } as BranchChange);
  return {
    branch: renderBranch(request.transaction.world, requestedBranch(request), request.transaction.now),
    operations: renderScheduledOperations(events, request.transaction.now),
  };
}
