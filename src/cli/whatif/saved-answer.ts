import { statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { MAX } from "../../input-limits/limits.ts";
import type { SuspendDelay } from "../../whatif/gap-curve/curve.ts";
import { LONGEST_DELAY_S } from "../../whatif/trace/gap-histogram.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { readText } from "../terminal/read-text.ts";
import { readStandardInput, STANDARD_INPUT } from "../terminal/standard-input.ts";

export const DELAY_SETS = ["recommended", "fleet", "per-compute"] as const;
/** Which delays of an answer are meant. */
export type DelaySet = (typeof DELAY_SETS)[number];

export type ComputeDelay = { readonly compute: string; readonly delay: SuspendDelay };

export type ChosenDelays = {
  readonly set: Exclude<DelaySet, "recommended">;
  /** By compute, in the order of their ids. */
  readonly delays: readonly ComputeDelay[];
};

const delaySchema = z.union([z.int().min(0).max(LONGEST_DELAY_S), z.literal("never")]);

const answerSchema = z.object({
  decision: z.object({ recommended_delay_s: delaySchema.nullable(), too_little: z.array(z.string()) }),
  held_out: z.union([
    z.object({ missing: z.string() }),
    z.object({ recommended: z.enum(["fleet", "per_compute_shrunk"]) }),
  ]),
  max_cold_per_day: z.number().optional(),
  max_wait_p99_ms: z.number().optional(),
  max_cost_dollars_per_month: z.number().optional(),
  compute_wait_limit: z.object({}).optional(),
  computes: z.array(z.object({ compute: z.string(), shrunk_delay_s: delaySchema.nullable() })).optional(),
});
type Answer = z.output<typeof answerSchema>;

/** Ids of computes. Names with other characters could do harm in a shell command. */
const COMPUTE_ID = /^[A-Za-z][\w-]{0,99}$/;

/** Reads the JSON of `whatif curve`: a file, the directory of a report, or `-`. */
export async function readAnswer(path: string, signal: AbortSignal): Promise<Answer> {
  const text =
    path === STANDARD_INPUT ? await readStandardInput(signal, MAX.savedAnswer) : readAnswerFile(path);
  const parsed = answerSchema.safeParse(parseJson(text, path));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CliError(
    `${path}: not an answer of "whatif curve": ${issue?.path.join(".") || "the file"}: ${issue?.message}; write one with --json or --out`,
  );
}

/** The delays that the answer recommends, or the requested ones. */
export function chosenDelays(answer: Answer, requested: DelaySet): ChosenDelays {
  const { decision, held_out: heldOut, computes } = answer;
  if (computes === undefined)
    throw new CliError(
      "the answer does not list the computes; calculate it with: whatif curve --by-compute --json",
    );
  for (const { compute } of computes)
    if (!COMPUTE_ID.test(compute))
      throw new CliError(`compute ${JSON.stringify(compute)} is not the id of a compute, such as ep-…`);
  const set = requested === "recommended" ? recommendedSet(answer) : requested;
  const inOrder = [...computes].sort((a, b) => (a.compute < b.compute ? -1 : 1));
  if (set === "fleet") {
    const { recommended_delay_s: delay, too_little } = decision;
    if (delay === null)
      throw new CliError(
        `the answer recommends no delay: ${too_little.join("; ") || "no delay meets its limits"}`,
      );
    return { set, delays: inOrder.map(({ compute }) => ({ compute, delay })) };
  }
  if (hasFleetLimits(answer))
    throw new CliError("--delays per-compute: the limits of the answer apply only to one delay for all");
  return {
    set,
    delays: inOrder.map(({ compute, shrunk_delay_s: delay }) => {
      if (delay !== null) return { compute, delay };
      throw new CliError(
        `the answer has no delay for each compute: ${"missing" in heldOut ? heldOut.missing : compute}`,
      );
    }),
  };
}

/** Limits hold for one delay for all only. */
function recommendedSet(answer: Answer): ChosenDelays["set"] {
  const { held_out: heldOut, decision } = answer;
  if (hasLimits(answer) || decision.recommended_delay_s === null || "missing" in heldOut) return "fleet";
  return heldOut.recommended === "fleet" ? "fleet" : "per-compute";
}

/** Delays of each compute respect a limit on the wait, but no limit on totals. */
function hasFleetLimits({ max_cold_per_day, max_cost_dollars_per_month, ...answer }: Answer): boolean {
  const hasWaitLimit = answer.max_wait_p99_ms !== undefined && answer.compute_wait_limit === undefined;
  return hasWaitLimit || (max_cold_per_day ?? max_cost_dollars_per_month) !== undefined;
}

function hasLimits(answer: Answer): boolean {
  return (
    (answer.max_cold_per_day ?? answer.max_wait_p99_ms ?? answer.max_cost_dollars_per_month) !== undefined
  );
}

function readAnswerFile(path: string): string {
  try {
    return readText(statSync(path).isDirectory() ? join(path, "summary.json") : path, MAX.savedAnswer);
  } catch (error) {
    throw new CliError(`${path}: ${fileProblem(error)}`);
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${path}: not JSON; write the answer with: whatif curve --by-compute --json`);
  }
}
