import * as z from "zod";
import { id } from "../../http/fields.ts";
import { branchCreation, createBranch } from "../http/create-branch.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { maskingRules, startedAnonymization } from "./anonymization-operations.ts";

const params = z.object({ project_id: id });
const body = z.object({
  branch_create: z.object(branchCreation).optional(),
  annotation_value: z.record(z.string(), z.string()).optional(),
  masking_rules: maskingRules.optional(),
  start_anonymization: z.boolean().optional(),
});

/** S: branches that are created with masking rules. */
export function anonymizedBranchRoutes(): readonly ApiRoute[] {
  return [createProjectBranchAnonymized];
}

const createProjectBranchAnonymized = route(
  "POST /projects/:project_id/branch_anonymized",
  { status: 201, params, body },
  (request) => {
    const { branch_create, annotation_value, masking_rules = [], start_anonymization } = request.body;
    const isStarted = start_anonymization === true;
    const settings = { masking_rules, ...(isStarted ? startedAnonymization(masking_rules) : {}) };
    return createBranch(request, { ...branch_create, annotation_value }, [
      { kind: "anonymization", settings, isMarked: isStarted },
    ]);
  },
);
