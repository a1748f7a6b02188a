import { Hono } from "hono";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { branchCreation, createBranch } from "../http/create-branch.ts";
import type { RouteHandlers } from "../http/request-context.ts";
import { maskingRules, startedAnonymization } from "./anonymization-operations.ts";

const params = z.object({ project_id: id });
const body = z.object({
  branch_create: z.object(branchCreation).optional(),
  annotation_value: z.record(z.string(), z.string()).optional(),
  masking_rules: maskingRules.optional(),
  start_anonymization: z.boolean().optional(),
});

/** S: branches that are created with masking rules. */
export function anonymizedBranchRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();
  app.post(
    "/projects/:project_id/branch_anonymized",
    handlers.route({ status: 201, params, body }, (request) => {
      const { branch_create, annotation_value, masking_rules = [], start_anonymization } = request.body;
      const isStarted = start_anonymization === true;
      const settings = { masking_rules, ...(isStarted ? startedAnonymization(masking_rules) : {}) };
      return createBranch(request, { ...branch_create, annotation_value }, [
        { kind: "anonymization", settings, isMarked: isStarted },
      ]);
    }),
  );
  return app;
}
