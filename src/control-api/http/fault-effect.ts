import * as z from "zod";
import { issueText } from "../../input-limits/issue-text.ts";
import {
  DISTRIBUTION_RULE,
  type DurationDistribution,
  formatDistribution,
  parseDistribution,
} from "../../kernel/distribution.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { DAY, parseDuration, SECOND } from "../../kernel/time.ts";
import type { FaultEffect } from "../../platform/model/fault.ts";
import { duration } from "./control-fields.ts";
import { strict, unknownName } from "./strict-fields.ts";

const MAX_TIMES = 1_000;
/** The longest delay of a request. */
const MAX_LATENCY = 7 * DAY;
const times = z.int().min(1).max(MAX_TIMES).default(1);
const SQLSTATE_RULE = 'must be a SQLSTATE of five characters, such as "53300"';
const factor = z.number().positive().max(1_000_000);

const distribution = z
  .union([z.string(), z.number()], { error: DISTRIBUTION_RULE })
  .transform((text, context) => {
    const parsed = parseDistribution(String(text));
    if (parsed !== undefined) return parsed;
    context.addIssue({ code: "custom", message: DISTRIBUTION_RULE });
    return z.NEVER;
  });

/** A duration, or an object with it and a clock. */
const latency = z.preprocess(
  (input) => (typeof input === "string" || typeof input === "number" ? { takes: input } : input),
  strict({
    takes: distribution.refine((takes) => maxDelay(takes) <= MAX_LATENCY, "must not be longer than 7d"),
    clock: z.enum(["world", "wall"]).default("world"),
  }),
);

const RETRY_AFTER_RULE =
  "must be whole seconds like 30, as in the header, or a duration with a unit like 30s or 2m";

/** Whole seconds, rounded up, because the header has no fractions. */
const retryAfter = z
  .union([z.string(), z.number()], { error: RETRY_AFTER_RULE })
  .transform((text, context) => {
    const seconds = /^\d+$/.test(String(text)) ? `${text}s` : text;
    const ms = typeof seconds === "number" ? undefined : parseDuration(seconds);
    if (ms !== undefined && /[a-z]/.test(String(seconds))) return Math.ceil(ms / SECOND);
    context.addIssue({ code: "custom", message: RETRY_AFTER_RULE });
    return z.NEVER;
  });

/** The fields of each effect, by its name. */
const EFFECTS = {
  answer: strict({
    status: z.int().min(400).max(599),
    code: z
      .string()
      .regex(
        /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/,
        "must be 1 to 64 letters, digits, _, . and -, beginning with a letter",
      )
      .optional(),
    message: z.string().min(1).max(1_024).optional(),
    retry_after: retryAfter.optional(),
  }),
  latency,
  drop: strict({}),
  lose_response: strict({}),
  rate_limit: strict({
    requests: z.int().min(0).max(1_000_000_000),
    per: duration.refine((ms) => ms > 0, "must be greater than 0"),
  }),
  maintenance: strict({ for: duration.optional() }),
  operation_fails: strict({ times, ends: z.enum(["finished", "failed"]).default("finished") }),
  start_slower: strict({ by: distribution.optional(), factor: factor.optional() }).refine(
    (one) => one.by !== undefined || one.factor !== undefined,
    "must have by (a duration) or factor",
  ),
  start_fails: strict({ times }),
  reject_connection: strict({
    code: z.string(SQLSTATE_RULE).regex(/^[0-9A-Z]{5}$/, SQLSTATE_RULE),
    message: z.string().min(1).max(1_024).optional(),
  }),
  delay_connection: latency,
  drop_connection: strict({}),
  end_connection: strict({ after: z.int().min(0).max(1_000_000_000) }),
};
type EffectName = keyof typeof EFFECTS;
const EFFECT_NAMES = Object.keys(EFFECTS) as EffectName[];

/** A name such as `"drop"`, or an object with the effect's name and its fields. */
export const effect = z
  .union(
    [
      z.string().transform((name): Record<string, unknown> => ({ [name]: {} })),
      z.record(z.string(), z.unknown()),
    ],
    {
      error: `must be an object with one of ${EFFECT_NAMES.join(", ")}`,
    },
  )
  .transform((input, context): FaultEffect => {
    const [name = "", ...others] = Object.keys(input);
    const refuse = (message: string, path: PropertyKey[] = []) => {
      context.addIssue({ code: "custom", message, path });
      return z.NEVER;
    };
    if (name === "" || others.length > 0) return refuse(`must be exactly one of ${EFFECT_NAMES.join(", ")}`);
    if (!(EFFECT_NAMES as string[]).includes(name))
      return refuse(
        `${unknownName("effect", name, EFFECT_NAMES)}; expected one of ${EFFECT_NAMES.join(", ")}`,
      );
    const parsed = EFFECTS[name as EffectName].safeParse(input[name], { error: issueText });
    if (parsed.success) return effectOf(name as EffectName, parsed.data);
    for (const issue of parsed.error.issues) refuse(issue.message, [name, ...issue.path]);
    return z.NEVER;
  });

function maxDelay(takes: DurationDistribution): number {
  if (takes.kind === "empirical") return takes.quantilesMs.at(-1) ?? 0;
  return takes.kind === "fixed" ? takes.ms : takes.maxMs;
}

function effectOf(kind: EffectName, fields: object): FaultEffect {
  const {
    retry_after,
    per,
    for: forMs,
    ...rest
  } = fields as { retry_after?: number; per?: number; for?: number };
  return { kind, ...rest, ...omitUndefined({ retryAfterS: retry_after, perMs: per, forMs }) } as FaultEffect;
}

/** The effect in the form that callers write. */
export function renderEffect(effect: FaultEffect): object {
  const { kind } = effect;
  switch (kind) {
    case "answer": {
      const { status, code, message, retryAfterS } = effect;
      return {
        answer: omitUndefined({ status, code, message, retry_after: retryAfterS && `${retryAfterS}s` }),
      };
    }
    case "latency":
    case "delay_connection":
      return { [kind]: { takes: formatDistribution(effect.takes), clock: effect.clock } };
    case "rate_limit":
      return { rate_limit: { requests: effect.requests, per: `${effect.perMs}ms` } };
    case "maintenance":
      return {
        maintenance: omitUndefined({ for: effect.forMs === undefined ? undefined : `${effect.forMs}ms` }),
      };
    case "operation_fails":
      return { operation_fails: { times: effect.times, ends: effect.ends } };
    case "start_slower":
      return {
        start_slower: omitUndefined({
          by: effect.by && formatDistribution(effect.by),
          factor: effect.factor,
        }),
      };
    case "start_fails":
      return { start_fails: { times: effect.times } };
    case "reject_connection":
      return { reject_connection: omitUndefined({ code: effect.code, message: effect.message }) };
    case "end_connection":
      return { end_connection: { after: effect.after } };
    case "drop":
    case "drop_connection":
    case "lose_response":
      return { [kind]: {} };
    default:
      return effect satisfies never;
  }
}
