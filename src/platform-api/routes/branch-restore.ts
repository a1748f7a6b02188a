import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { computesOnBranch } from "../../platform/world/lookup.ts";
import { branchParams, branchTarget, changeBranch, requestedBranch } from "../http/branch-request.ts";
import { atMostOne, lsn, name } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { renderBranch } from "../render/render-branch.ts";
import { renderPendingEndpoint } from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

/** S: going back to an earlier state of a branch. */
export function branchRestoreRoutes(): readonly ApiRoute[] {
  return [restoreProjectBranch, resetProjectBranchToParent, recoverProjectBranch, finalizeRestoreBranch];
}

const restoreProjectBranch = route(
  "POST /projects/:project_id/branches/:branch_id/restore",
  {
    params: branchParams,
    body: z
      .object({
        source_branch_id: id,
        source_lsn: lsn.optional(),
        source_timestamp: instant.optional(),
        preserve_under_name: name.optional(),
      })
      .refine(...atMostOne("source_lsn", "source_timestamp")),
  },
  (request) => {
    const { source_branch_id, source_lsn, source_timestamp, preserve_under_name } = request.body;
    return changeBranch(request, {
      type: "RestoreBranch",
      sourceBranchId: source_branch_id,
      sourceLsn: source_lsn,
      sourceWrittenAt: request.writtenAt(source_branch_id, source_lsn),
      sourceTimestamp: source_timestamp,
      preserveUnderName: preserve_under_name,
    });
  },
);

// C: not in the public document. Public clients send no body.
const resetProjectBranchToParent = route(
  "POST /projects/:project_id/branches/:branch_id/reset_to_parent",
  { params: branchParams },
  (request) => changeBranch(request, { type: "ResetBranchToParent" }),
);

const recoverProjectBranch = route(
  "POST /projects/:project_id/branches/:branch_id/recover",
  { params: branchParams },
  (request) => {
    const { world, now } = request.transaction;
    request.execute({ type: "RecoverBranch", ...branchTarget(request) });
    const branch = requestedBranch(request);
    return {
      branch: renderBranch(world, branch, now),
      endpoints: computesOnBranch(world, branch.id).map((compute) =>
        renderPendingEndpoint(world, compute, now),
      ),
    };
  },
);

const finalizeRestoreBranch = route(
  "POST /projects/:project_id/branches/:branch_id/finalize_restore",
  { params: branchParams, body: z.object({ name: name.optional() }).optional() },
  (request) => {
    const events = request.execute({
      type: "FinalizeRestore",
      ...branchTarget(request),
      replacedName: request.body?.name,
    });
    return { operations: renderScheduledOperations(events, request.transaction.now) };
  },
);
