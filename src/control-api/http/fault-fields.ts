import * as z from "zod";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { OPERATION_ACTIONS } from "../../platform/catalog/operation-actions.ts";
import {
  type Fault,
  type FaultDefinition,
  type FaultEffect,
  isConnectionEffect,
  isOperationEffect,
} from "../../platform/model/fault.ts";
import { clockInstant, givenName } from "./control-fields.ts";
import { effect, renderEffect } from "./fault-effect.ts";
import { formatInstant as renderInstant } from "./render-object.ts";
import { nameListField, strict } from "./strict-fields.ts";

const MAX_FAULTS = 1_000;
const count = z.int().min(1).max(1_000_000_000_000);

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
  from: clockInstant.optional(),
  until: clockInstant.optional(),
})
  .refine(
    ({ first, every, probability }) =>
      [first, every, probability].filter((one) => one !== undefined).length <= 1,
    {
      message: "must have at most one of first, every and probability",
    },
  )
  .refine(({ from, until }) => from === undefined || until === undefined || from < until, {
    message: "must be after from",
    path: ["until"],
  });

/** Schemas of faults; `operationIds` are all operations of the public API. */
export function faultFields(operationIds: readonly string[]) {
  const on = strict({
    operation: nameListField("operation", operationIds).optional(),
    action: nameListField("action", OPERATION_ACTIONS).optional(),
    match: match.optional(),
  }).default({});
  const fields = {
    on,
    when: when.default({}),
    effect,
    // Read-only fields are accepted, so that a fault can be sent back as it was read.
    seen: z.unknown().optional(),
    hits: z.unknown().optional(),
    set_at: z.unknown().optional(),
  };
  type ParsedFault = z.output<ReturnType<typeof strict<typeof fields>>>;
  const check = (fault: ParsedFault, context: z.RefinementCtx) => {
    for (const { path, message } of contradictions(fault))
      context.addIssue({ code: "custom", path: [...path], message });
  };
  const named = strict({ name: givenName, ...fields })
    .superRefine(check)
    .transform((fault) => definitionOf(fault.name, fault));
  const any = strict({ name: givenName.optional(), ...fields });
  const many = z.array(strict({ name: givenName, ...fields })).max(MAX_FAULTS);
  return {
    /** For the document of the control API. */
    any,
    documentedAll: z.union([many, strict({ faults: many })]),
    one: (name: string) =>
      strict({
        name: z.literal(name, `must be "${name}", as in the path, or omitted`).optional(),
        ...fields,
      })
        .superRefine(check)
        .transform((fault) => definitionOf(name, fault)),
    all: z
      .union(
        [z.array(z.unknown()), strict({ faults: z.array(z.unknown()) }).transform(({ faults }) => faults)],
        {
          error: "must be a list of faults, or an object with the list faults",
        },
      )
      .pipe(z.array(named).max(MAX_FAULTS, `must be at most ${MAX_FAULTS} faults`))
      .superRefine((faults, context) => {
        const seen = new Set<string>();
        for (const [index, { name }] of faults.entries()) {
          if (seen.has(name))
            context.addIssue({
              code: "custom",
              path: [index, "name"],
              message: `fault "${name}" occurs twice`,
            });
          seen.add(name);
        }
      }),
  };
}

type NameList = readonly string[] | undefined;
type FaultFieldValues = {
  readonly on: {
    readonly operation?: NameList;
    readonly action?: NameList;
    readonly match?: z.output<typeof match> | undefined;
  };
  readonly when: z.output<typeof when>;
  readonly effect: FaultEffect;
};

type Contradiction = { readonly path: readonly string[]; readonly message: string };

function contradictions({ on, when, effect }: FaultFieldValues): Contradiction[] {
  const problems: Contradiction[] = [];
  const add = (path: string, message: string) => problems.push({ path: path.split("."), message });
  if (isOperationEffect(effect)) {
    if ("operation" in on)
      add("on.operation", `${effect.kind} applies to operations of the platform; use on.action instead`);
    for (const field of ["method", "account_id", "org_id"] as const)
      if (on.match?.[field] !== undefined)
        add(`on.match.${field}`, "operations of the platform do not have this field");
    const others = (on.action ?? []).filter((action) => action !== "start_compute");
    if (effect.kind !== "operation_fails" && others.length > 0)
      add("on.action", `${effect.kind} applies only to start_compute, not to ${others.join(", ")}`);
  } else if (isConnectionEffect(effect)) {
    for (const field of ["operation", "action"] as const)
      if (field in on)
        add(`on.${field}`, `${effect.kind} applies to connections of Postgres clients; use on.match`);
    for (const field of ["method", "account_id", "org_id"] as const)
      if (on.match?.[field] !== undefined) add(`on.match.${field}`, "connections do not have this field");
  } else if ("action" in on) add("on.action", `${effect.kind} applies to requests; use on.operation instead`);
  const chosen = when.first ?? when.every ?? when.probability;
  if (effect.kind === "rate_limit" && chosen !== undefined)
    add(
      "when",
      "rate_limit applies to requests above the limit, so first, every and probability are not allowed",
    );
  if (effect.kind === "maintenance" && chosen !== undefined)
    add(
      "when",
      "maintenance lasts for a period: use for, or from and until, not first, every or probability",
    );
  return problems;
}

function definitionOf(name: string, { on, when, effect }: FaultFieldValues): FaultDefinition {
  const { operation, action, match } = on;
  const { from, ...timing } = when;
  return {
    name,
    scope: {
      ...(operation === undefined ? {} : { operations: operation }),
      ...(action === undefined
        ? {}
        : { actions: action as NonNullable<FaultDefinition["scope"]["actions"]> }),
      ...(match === undefined ? {} : { match: omitUndefined(matchOf(match)) }),
    },
    timing: omitUndefined({ ...timing, fromAt: from }),
    effect,
  };
}

function matchOf({ project_id, branch_id, endpoint_id, account_id, org_id, method }: z.output<typeof match>) {
  return {
    projectId: project_id,
    branchId: branch_id,
    endpointId: endpoint_id,
    accountId: account_id,
    organizationId: org_id,
    method,
  };
}

/** The fault in the form that callers write, with its counters. */
export function renderFault({ name, scope, timing, effect, seen, hits, setAt }: Fault) {
  const { operations, actions, match } = scope;
  const { fromAt, until, ...rest } = timing;
  return {
    name,
    on: omitUndefined({
      operation: isOperationEffect(effect) || isConnectionEffect(effect) ? undefined : (operations ?? "*"),
      // For effects that apply only to starts, action is shown only if it was given.
      action: isOperationEffect(effect)
        ? (actions ?? (effect.kind === "operation_fails" ? "*" : undefined))
        : undefined,
      match:
        match &&
        omitUndefined({
          project_id: match.projectId,
          branch_id: match.branchId,
          endpoint_id: match.endpointId,
          account_id: match.accountId,
          org_id: match.organizationId,
          method: match.method,
        }),
    }),
    when: omitUndefined({
      ...rest,
      from: fromAt && renderInstant(fromAt),
      until: until && renderInstant(until),
    }),
    effect: renderEffect(effect),
    seen,
    hits,
    set_at: renderInstant(setAt),
  };
}
