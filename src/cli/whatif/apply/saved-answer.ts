import { statSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { readText } from "../../../app/read-text.ts";
import { issueText } from "../../../input-limits/issue-text.ts";
import { MAX } from "../../../input-limits/limits.ts";
import { PROFILES, type ProfileName } from "../../../platform/catalog/defaults-and-limits.ts";
import { PRICED_PLANS } from "../../../platform/catalog/price-lists.ts";
import { delaySeconds, type SuspendDelay } from "../../../whatif/gap-curve/delay.ts";
import { isWithin } from "../../../whatif/gap-curve/settable-delays.ts";
import { LONGEST_DELAY_S } from "../../../whatif/trace/gap-histogram.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { unreadableInput } from "../../terminal/input-file.ts";
import { readStandardInput, STANDARD_INPUT } from "../../terminal/standard-input.ts";

export const DELAY_SETS = ["recommended", "fleet", "per-compute"] as const;
/** Which delays of an answer are meant. */
export type DelaySet = (typeof DELAY_SETS)[number];

export type ComputeDelay = { readonly compute: string; readonly delay: SuspendDelay };

/** A delay of the answer, and what it changes. */
export type ChosenDelay = ComputeDelay & {
  /** The delay that the answer compares with. */
  readonly from: SuspendDelay;
  /** Undefined if the answer does not know it. */
  readonly gain: SavedGain | undefined;
  /** Weighted cost with that delay, in seconds. */
  readonly weightedCostS: number;
  /** A limit of the answer is exceeded without the change. */
  readonly isRequired: boolean;
};

export type ChosenDelays = {
  readonly set: Exclude<DelaySet, "recommended">;
  /** By compute, in the order of their ids. */
  readonly delays: readonly ChosenDelay[];
};

const PROFILE_NAMES = Object.keys(PROFILES) as ProfileName[];
const delaySchema = z.union([z.int().min(0).max(LONGEST_DELAY_S), z.literal("never")]);

const gainSchema = z.object({
  gain_s: z.number(),
  margin_95: z.number().nullable(),
  cost_dollars_per_month: z.number(),
});
type SavedGain = z.output<typeof gainSchema>;

const computeSchema = z.object({
  compute: z.string(),
  present: z.object({ delay_s: delaySchema, burden_s: z.number() }),
  shrunk_delay_s: delaySchema.nullable(),
  gain_of_recommended: gainSchema.nullable(),
  gain_of_shrunk: gainSchema.nullable(),
  within_wait_p99_delay_s: delaySchema.nullish(),
});
type SavedCompute = z.output<typeof computeSchema>;

const answerSchema = z.object({
  question: z.object({ plan: z.enum(PRICED_PLANS), profile: z.enum(PROFILE_NAMES) }),
  decision: z.object({
    recommended_delay_s: delaySchema.nullable(),
    too_little: z.array(z.string()),
    no_margins: z.string().nullable(),
    current: z.object({ cost_dollars_per_month: z.number() }),
    within_limits: z.object({ from_delay_s: delaySchema, to_delay_s: delaySchema }).nullable(),
  }),
  held_out: z.union([
    z.object({ missing: z.string() }),
    z.object({ recommended: z.enum(["fleet", "per_compute_shrunk"]) }),
  ]),
  max_cold_per_day: z.number().optional(),
  max_wait_p99_ms: z.number().optional(),
  max_cost_dollars_per_month: z.number().optional(),
  compute_wait_limit: z.object({}).optional(),
  computes: z.array(computeSchema).optional(),
});
export type Answer = z.output<typeof answerSchema>;

/** Ids of computes. Names with other characters could do harm in a shell command. */
export const COMPUTE_ID = /^[A-Za-z][\w-]{0,99}$/;

/** Reads the JSON of `whatif curve`: a file, the directory of a report, or `-`. */
export async function readAnswer(path: string, signal: AbortSignal): Promise<Answer> {
  const text =
    path === STANDARD_INPUT ? await readStandardInput(signal, MAX.savedAnswer) : readAnswerFile(path);
  const parsed = answerSchema.safeParse(parseJson(text, path), { error: issueText });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CliError(
    `${path}: not an answer of "whatif curve" of this version: ${issue?.path.join(".") || "the file"}: ${issue?.message}; write one with --json or --out`,
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
    const isRequired = isOutsideLimits(answer);
    return {
      set,
      delays: inOrder.map((saved) =>
        chosenDelay(saved, delay, saved.gain_of_recommended, isRequired(saved.present.delay_s)),
      ),
    };
  }
  if (hasFleetLimits(answer))
    throw new CliError("--delays per-compute: the limits of the answer apply only to one delay for all");
  return {
    set,
    delays: inOrder.map((saved) => {
      const { shrunk_delay_s: delay, within_wait_p99_delay_s: within, present, compute } = saved;
      if (delay === null)
        throw new CliError(
          `the answer has no delay for each compute: ${"missing" in heldOut ? heldOut.missing : compute}`,
        );
      const isRequired = within != null && delaySeconds(within) > delaySeconds(present.delay_s);
      return chosenDelay(saved, delay, saved.gain_of_shrunk, isRequired);
    }),
  };
}

function chosenDelay(
  { compute, present }: SavedCompute,
  delay: SuspendDelay,
  gain: SavedGain | null,
  isRequired: boolean,
): ChosenDelay {
  return {
    compute,
    delay,
    from: present.delay_s,
    gain: gain ?? undefined,
    weightedCostS: present.burden_s,
    isRequired,
  };
}

/** Whether a delay for all exceeds the limits of the answer. */
function isOutsideLimits(answer: Answer): (delay: SuspendDelay) => boolean {
  const range = answer.decision.within_limits;
  if (!hasLimits(answer) || range === null) return () => false;
  const limits = { shortest: range.from_delay_s, longest: range.to_delay_s };
  return (delay) => !isWithin(limits, delay);
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
    throw unreadableInput(path, error);
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${path}: not JSON; write the answer with: whatif curve --by-compute --json`);
  }
}
