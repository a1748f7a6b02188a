import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { timestamp } from "../../http/timestamps.ts";
import { recorded, type Shown } from "./recorded-operation.ts";

const maskingRule = z.object({
  database_name: z.string(),
  schema_name: z.string(),
  table_name: z.string(),
  column_name: z.string(),
  masking_function: z.string().exactOptional(),
  masking_value: z.string().exactOptional(),
});
export const maskingRules = z.array(maskingRule);

/** S: the masking rules of anonymized branches, and their anonymization. A: it is complete at once. */
export const ANONYMIZATION_OPERATIONS = [
  recorded({ route: "GET /masking_rules", kind: "anonymization", does: "read", answer: renderRules }),
  recorded({
    route: "PATCH /masking_rules",
    kind: "anonymization",
    does: "update",
    body: z.object({ masking_rules: maskingRules }),
    settings: (body) => body,
    answer: renderRules,
  }),
  recorded({ route: "GET /anonymized_status", kind: "anonymization", does: "read", answer: renderStatus }),
  recorded({
    route: "POST /anonymize",
    kind: "anonymization",
    does: "update",
    marks: true,
    settings: (_, present) => startedAnonymization(present?.masking_rules ?? []),
    answer: renderStatus,
  }),
];

type MaskingRules = z.output<typeof maskingRules>;

/** The settings that starting the anonymization changes. */
export function startedAnonymization(rules: readonly MaskingRules[number][]) {
  return { masked_columns: rules.length };
}

function renderRules({ settings }: Shown<"anonymization">) {
  return { masking_rules: [...settings.masking_rules] } satisfies public_.MaskingRulesResponse;
}

function renderStatus({ branch, record, settings }: Shown<"anonymization">) {
  const { markedAt: startedAt } = record.fields;
  return {
    project_id: branch.projectId,
    branch_id: branch.id,
    state: startedAt === undefined ? "initialized" : "anonymized",
    created_at: timestamp(record.createdAt),
    updated_at: timestamp(record.updatedAt),
    ...(startedAt === undefined
      ? {}
      : {
          last_run: {
            started_at: timestamp(startedAt),
            completed_at: timestamp(startedAt),
            masked_columns: settings.masked_columns ?? 0,
          },
        }),
  } satisfies public_.AnonymizedBranchStatusResponse;
}
