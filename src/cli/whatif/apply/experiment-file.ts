import * as z from "zod";
import { readText } from "../../../app/read-text.ts";
import { issueText } from "../../../input-limits/issue-text.ts";
import { MAX } from "../../../input-limits/limits.ts";
import type { ExperimentPlan } from "../../../whatif/periods/experiment-plan.ts";
import { LONGEST_DELAY_S } from "../../../whatif/trace/gap-histogram.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { unreadableInput } from "../../terminal/input-file.ts";
import { COMPUTE_ID, type ComputeDelay } from "./saved-answer.ts";

const VERSION = 1;

const experimentSchema = z.object({
  plan_of: z.literal("standin whatif experiment"),
  version: z.literal(VERSION),
  days: z.number().positive(),
  computes: z.array(
    z.object({
      compute: z.string().regex(COMPUTE_ID),
      set_delay_s: z.int().min(1).max(LONGEST_DELAY_S),
    }),
  ),
});

/** The content of the file of a plan. */
export function experimentFile(plan: ExperimentPlan): string {
  return `${JSON.stringify({ plan_of: "standin whatif experiment", version: VERSION, ...plan }, null, 2)}\n`;
}

/** The delays that the plan sets. Throws if the file is not one of `whatif experiment`, or sets nothing. */
export function readExperimentFile(path: string): readonly ComputeDelay[] {
  const content = experimentSchema.safeParse(parsedFile(path), { error: issueText });
  if (!content.success) {
    const [issue] = content.error.issues;
    throw new CliError(
      `--plan ${path}: not a plan of whatif experiment: ${issue?.path.join(".") || "the file"}: ${issue?.message}`,
    );
  }
  const { computes } = content.data;
  if (computes.length === 0)
    throw new CliError(`--plan ${path}: the plan has no computes, so it sets nothing`);
  return computes.map(({ compute, set_delay_s }) => ({ compute, delay: set_delay_s }));
}

function parsedFile(path: string): unknown {
  let text: string;
  try {
    text = readText(path, MAX.savedAnswer);
  } catch (error) {
    throw unreadableInput(`--plan ${path}`, error);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`--plan ${path}: not JSON; name a file that whatif experiment wrote`);
  }
}
