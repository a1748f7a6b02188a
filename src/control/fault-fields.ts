import * as z from "zod";
import { DISTRIBUTION_RULE, type DurationDistribution, distributionText, parseDistribution } from "../platform/distribution.ts";
import { type Fault, type FaultDefinition, type FaultEffect, isOperationEffect } from "../platform/fault.ts";
import { OPERATION_ACTIONS } from "../platform/operation.ts";
import { nearest } from "../platform/text.ts";
import { DAY } from "../platform/time.ts";
import { duration, instant } from "./fields.ts";
import { instant as renderInstant } from "./records.ts";

const MAX_FAULTS = 1_000;
const MAX_TIMES = 1_000;
/** A request that is later than that is lost. */
const MAX_LATENCY = 7 * DAY;
const count = z.int().min(1).max(1_000_000_000_000);
const times = z.int().min(1).max(MAX_TIMES).default(1);
const factor = z.number().positive().max(1_000_000);

const distribution = z.union([z.string(), z.number()]).transform((text, context) => {
  const parsed = parseDistribution(String(text));
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: "custom", message: DISTRIBUTION_RULE });
  return z.NEVER;
});

export const faultName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, "must be 1 to 63 of a-z, 0-9, ., _ and -, beginning with a letter or a digit");

/** An object of these fields and no others; one that is unknown is refused with the known name that is nearest. */
function strict<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.map((key) => unknown("field", key, known)).join("; ")}; there are ${known.join(", ")}`
        : undefined,
  });
}

function unknown(what: string, name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return `there is no ${what} "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}

/** One name, a list of names, or `*` for all of them, which is `undefined`. */
function names<T extends string>(what: string, known: readonly T[]) {
  const one = z.string().transform((name, context): T => {
    if ((known as readonly string[]).includes(name)) return name as T;
    context.addIssue({ code: "custom", message: unknown(what, name, known) });
    return z.NEVER;
  });
  return z
    .union([z.string(), z.array(z.string()).min(1)], { error: `must be the name of an ${what}, a list of names, or *` })
    .transform((asked): readonly string[] => (typeof asked === "string" ? [asked] : asked))
    .pipe(z.union([z.tuple([z.literal("*")]).transform(() => undefined), z.array(one)], { error: (issue) => firstMessage(issue) }));
}

/** Of a union only the last kind is worth telling: what was asked for is not `*`. */
function firstMessage(issue: { readonly code?: string; readonly errors?: unknown }): string | undefined {
  const kinds = issue.code === "invalid_union" ? (issue.errors as readonly (readonly z.core.$ZodIssue[])[]) : [];
  return kinds
    .at(-1)
    ?.map(({ message }) => message)
    .join("; ");
}

const id = z.string().min(1).max(60);
const match = strict({
  project_id: id.optional(),
  branch_id: id.optional(),
  endpoint_id: id.optional(),
  account_id: id.optional(),
  org_id: id.optional(),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).optional(),
});

const when = strict({
  first: count.optional(),
  every: count.optional(),
  probability: z.number().min(0).max(1).optional(),
  limit: count.optional(),
  from: instant.optional(),
  until: instant.optional(),
}).refine(({ first, every, probability }) => [first, every, probability].filter((one) => one !== undefined).length <= 1, {
  message: "only one of first, every and probability can be given",
});

/** Each effect with what it takes, by its name. */
const EFFECTS = {
  answer: strict({
    status: z.int().min(400).max(599),
    code: z
      .string()
      .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "must be 1 to 64 letters, digits, _, . and -, beginning with a letter")
      .optional(),
    message: z.string().min(1).max(1_024).optional(),
    retry_after: duration.optional(),
  }),
  latency: z.preprocess(
    (asked) => (typeof asked === "string" || typeof asked === "number" ? { takes: asked } : asked),
    strict({
      takes: distribution.refine((takes) => longest(takes) <= MAX_LATENCY, "must not be longer than 7d"),
      clock: z.enum(["world", "wall"]).default("world"),
    }),
  ),
  drop: strict({}),
  lose_response: strict({}),
  rate_limit: strict({ requests: z.int().min(0).max(1_000_000_000), per: duration.refine((ms) => ms > 0, "must be longer than nothing") }),
  maintenance: strict({ for: duration.optional() }),
  operation_fails: strict({ times, ends: z.enum(["finished", "failed"]).default("finished") }),
  start_slower: strict({ by: distribution.optional(), factor: factor.optional() }).refine(
    (one) => one.by !== undefined || one.factor !== undefined,
    "must say by how much: by a duration, or by a factor",
  ),
  start_fails: strict({ times }),
};
type EffectName = keyof typeof EFFECTS;
const EFFECT_NAMES = Object.keys(EFFECTS) as EffectName[];

/** `"drop"`, or an object with the effect's name and what it takes. */
const effect = z
  .union([z.string().transform((name): Record<string, unknown> => ({ [name]: {} })), z.record(z.string(), z.unknown())], {
    error: `must be an object with one of ${EFFECT_NAMES.join(", ")}`,
  })
  .transform((asked, context): FaultEffect => {
    const [name = "", ...others] = Object.keys(asked);
    const refuse = (message: string, path: PropertyKey[] = []) => {
      context.addIssue({ code: "custom", message, path });
      return z.NEVER;
    };
    if (name === "" || others.length > 0) return refuse(`must be exactly one of ${EFFECT_NAMES.join(", ")}`);
    if (!(EFFECT_NAMES as string[]).includes(name))
      return refuse(`${unknown("effect", name, EFFECT_NAMES)}; there are ${EFFECT_NAMES.join(", ")}`);
    const parsed = EFFECTS[name as EffectName].safeParse(asked[name]);
    if (parsed.success) return effectOf(name as EffectName, parsed.data);
    for (const issue of parsed.error.issues) refuse(issue.message, [name, ...issue.path]);
    return z.NEVER;
  });

function longest(takes: DurationDistribution): number {
  return takes.kind === "fixed" ? takes.ms : takes.maxMs;
}

function effectOf(kind: EffectName, fields: object): FaultEffect {
  const { retry_after, per, for: forMs, ...rest } = fields as { retry_after?: number; per?: number; for?: number };
  return {
    kind,
    ...rest,
    ...(retry_after === undefined ? {} : { retryAfterS: Math.ceil(retry_after / 1_000) }),
    ...(per === undefined ? {} : { perMs: per }),
    ...(forMs === undefined ? {} : { forMs }),
  } as FaultEffect;
}

/** Parses faults; `operationIds` are the public operations that there are. */
export function faultFields(operationIds: readonly string[]) {
  const on = strict({
    operation: names("operation", operationIds).optional(),
    action: names("action", OPERATION_ACTIONS).optional(),
    match: match.optional(),
  }).default({});
  const fields = {
    on,
    when: when.default({}),
    effect,
    // What is shown of a fault may be given again.
    seen: z.unknown().optional(),
    hits: z.unknown().optional(),
    set_at: z.unknown().optional(),
  };
  type Parsed = z.output<ReturnType<typeof strict<typeof fields>>>;
  const check = (fault: Parsed, context: z.RefinementCtx) => {
    for (const message of contradictions(fault)) context.addIssue({ code: "custom", message });
  };
  const named = strict({ name: faultName, ...fields })
    .superRefine(check)
    .transform((fault) => definitionOf(fault.name, fault));
  return {
    one: (name: string) =>
      strict({ name: z.literal(name, `must be "${name}", as in the path, or left out`).optional(), ...fields })
        .superRefine(check)
        .transform((fault) => definitionOf(name, fault)),
    all: z
      .union([z.array(z.unknown()), strict({ faults: z.array(z.unknown()) }).transform(({ faults }) => faults)], {
        error: "must be a list of faults, or an object with the list faults",
      })
      .pipe(z.array(named).max(MAX_FAULTS, `must be at most ${MAX_FAULTS} faults`))
      .superRefine((faults, context) => {
        const seen = new Set<string>();
        for (const [index, { name }] of faults.entries()) {
          if (seen.has(name)) context.addIssue({ code: "custom", path: [index, "name"], message: `there are two faults "${name}"` });
          seen.add(name);
        }
      }),
  };
}

type Fields = {
  readonly on: z.output<typeof match> extends infer M
    ? { operation?: readonly string[] | undefined; action?: readonly string[] | undefined; match?: M | undefined }
    : never;
  readonly when: z.output<typeof when>;
  readonly effect: FaultEffect;
};

function contradictions({ on, when, effect }: Fields): string[] {
  const wrong: string[] = [];
  if (isOperationEffect(effect)) {
    if ("operation" in on) wrong.push(`on.operation: ${effect.kind} strikes operations of the platform, by on.action`);
    for (const field of ["method", "account_id", "org_id"] as const)
      if (on.match?.[field] !== undefined) wrong.push(`on.match.${field}: an operation of the platform has none`);
    if (effect.kind !== "operation_fails" && "action" in on) wrong.push(`on.action: ${effect.kind} strikes start_compute alone`);
  } else if ("action" in on) wrong.push(`on.action: ${effect.kind} strikes requests, by on.operation`);
  const chosen = when.first ?? when.every ?? when.probability;
  if (effect.kind === "rate_limit" && chosen !== undefined)
    wrong.push("when: a rate_limit strikes what is beyond it, not the first, every so-manieth or by chance");
  if (effect.kind === "maintenance" && chosen !== undefined) wrong.push("when: a maintenance lasts: it is for a while, or from and until");
  return wrong;
}

function definitionOf(name: string, { on, when, effect }: Fields): FaultDefinition {
  const { operation, action, match } = on;
  const { from, ...timing } = when;
  return {
    name,
    scope: {
      ...(operation === undefined ? {} : { operations: operation }),
      ...(action === undefined ? {} : { actions: action as NonNullable<FaultDefinition["scope"]["actions"]> }),
      ...(match === undefined ? {} : { match: given(matchOf(match)) }),
    },
    timing: given({ ...timing, fromAt: from }),
    effect,
  };
}

function matchOf({ project_id, branch_id, endpoint_id, account_id, org_id, method }: z.output<typeof match>) {
  return { projectId: project_id, branchId: branch_id, endpointId: endpoint_id, accountId: account_id, organizationId: org_id, method };
}

/** Without what has no value. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** The fault as it would be written, and what has become of it. */
export function renderFault({ name, scope, timing, effect, seen, hits, setAt }: Fault) {
  const { operations, actions, match } = scope;
  const { fromAt, until, ...rest } = timing;
  return {
    name,
    on: given({
      operation: isOperationEffect(effect) ? undefined : (operations ?? "*"),
      action: effect.kind === "operation_fails" ? (actions ?? "*") : undefined,
      match:
        match &&
        given({
          project_id: match.projectId,
          branch_id: match.branchId,
          endpoint_id: match.endpointId,
          account_id: match.accountId,
          org_id: match.organizationId,
          method: match.method,
        }),
    }),
    when: given({ ...rest, from: fromAt && renderInstant(fromAt), until: until && renderInstant(until) }),
    effect: renderEffect(effect),
    seen,
    hits,
    set_at: renderInstant(setAt),
  };
}

function renderEffect(effect: FaultEffect): object {
  const { kind } = effect;
  switch (kind) {
    case "answer": {
      const { status, code, message, retryAfterS } = effect;
      return { answer: given({ status, code, message, retry_after: retryAfterS && `${retryAfterS}s` }) };
    }
    case "latency":
      return { latency: { takes: distributionText(effect.takes), clock: effect.clock } };
    case "rate_limit":
      return { rate_limit: { requests: effect.requests, per: `${effect.perMs}ms` } };
    case "maintenance":
      return { maintenance: given({ for: effect.forMs === undefined ? undefined : `${effect.forMs}ms` }) };
    case "operation_fails":
      return { operation_fails: { times: effect.times, ends: effect.ends } };
    case "start_slower":
      return { start_slower: given({ by: effect.by && distributionText(effect.by), factor: effect.factor }) };
    case "start_fails":
      return { start_fails: { times: effect.times } };
    case "drop":
    case "lose_response":
      return { [kind]: {} };
    default:
      return effect satisfies never;
  }
}
