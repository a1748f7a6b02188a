import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";
import { timestamp } from "../../http/timestamps.ts";
import { SECOND, type SimTime } from "../../kernel/time.ts";
import type { FunctionDeployment, FunctionSettings } from "../../platform/model/service-settings.ts";
import { pageOf, pageQuery } from "./record-page.ts";
import { recorded, type Shown } from "./recorded-operation.ts";
import { functionUrl } from "./service-urls.ts";

const LIST = "functions";
const MAX_NAME = 256; // S
const MAX_VARIABLES = 1_000; // A
const MEMORY_MIB = 512; // A
/** A: how long a deployment waits, and then is built. With immediate operations, neither takes time. */
const PENDING_MS = SECOND;
const BUILT_AFTER_MS = 5 * SECOND;

const slug = z.string().regex(/^[a-z0-9]{1,20}$/, "must be 1 to 20 lowercase letters and digits"); // S
const OF_SLUG = {
  kind: "function",
  params: { slug },
  keys: ({ params }: { readonly params: Readonly<Record<string, string>> }) => [params["slug"] ?? ""],
} as const;

/** S: JSON within the form: names and values. */
const environment = z
  .string()
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({
        code: "custom",
        message: 'must be a JSON object of strings, such as {"KEY":"VALUE"}',
      });
      return z.NEVER;
    }
  })
  .pipe(
    z
      .record(z.string(), z.string())
      .refine((values) => Object.keys(values).length <= MAX_VARIABLES, `must have at most ${MAX_VARIABLES}`),
  );

const deploymentForm = z
  .object({
    zip: z.instanceof(Uint8Array, { error: "must be a file" }).exactOptional(),
    runtime: z.enum(["nodejs24"]).exactOptional(),
    environment: environment.exactOptional(),
  })
  .refine(
    (fields) => Object.values(fields).some((value) => value !== undefined),
    "at least one of zip, environment and runtime is required",
  );
type DeploymentForm = z.output<typeof deploymentForm>;

/** S: functions of a branch and their deployments. Code is not stored, and nothing runs it. */
export const FUNCTION_OPERATIONS = [
  recorded({
    route: "GET /functions",
    kind: "function",
    does: "list",
    query: pageQuery(LIST),
    answer: (functions, query) => {
      const { items, ...page } = pageOf(LIST, functions, query);
      return { functions: items.map(renderFunction), ...page } satisfies public_.NeonFunctionsListResponse;
    },
  }),
  recorded({ ...OF_SLUG, route: "GET /functions/:slug", does: "read", answer: renderResponse }),
  recorded({
    ...OF_SLUG,
    route: "PATCH /functions/:slug",
    // S: renamed by the branch that owns it only.
    does: "replace",
    onlyOwn: true,
    body: z.object({ name: z.string().trim().min(1).max(MAX_NAME).nullable() }),
    settings: ({ name }, present) => {
      const deployments = present?.deployments ?? [];
      return name === null ? { deployments } : { deployments, name };
    },
    answer: renderResponse,
  }),
  recorded({ ...OF_SLUG, route: "DELETE /functions/:slug", status: 204, does: "delete" }),
  recorded({
    ...OF_SLUG,
    route: "POST /functions/:slug/deployments",
    status: 201,
    does: "update",
    form: true,
    body: deploymentForm,
    settings: deployed,
    answer: (shown) =>
      ({
        deployment: renderDeployment(shown, currentOf(shown)),
      }) satisfies public_.NeonFunctionDeploymentResponse,
  }),
];

/** The settings after a deployment, which inherits what the form omits. */
function deployed(form: DeploymentForm, present: FunctionSettings | undefined, now: SimTime) {
  const { deployments = [] } = present ?? {};
  const latest = deployments.at(-1);
  if (latest === undefined && form.zip === undefined)
    return fail(badRequest("zip: required for the first deployment of a function"));
  const deployment: FunctionDeployment = {
    id: (latest?.id ?? 0) + 1,
    createdAt: now,
    runtime: form.runtime ?? latest?.runtime ?? "nodejs24",
    memory_mib: MEMORY_MIB,
    environment: withVariables(latest?.environment ?? [], form.environment ?? {}),
  };
  const active = deployments.findLastIndex(({ createdAt }) => now >= createdAt + BUILT_AFTER_MS);
  return { deployments: [...deployments.slice(Math.max(active, 0)), deployment] };
}

/** S: a variable without a value is removed. */
function withVariables(names: readonly string[], given: Readonly<Record<string, string>>): string[] {
  const changed = new Set(Object.keys(given));
  const set = [...changed].filter((name) => given[name] !== "");
  return [...names.filter((name) => !changed.has(name)), ...set].sort();
}

function statusOf({ world, now }: Shown<"function">, { createdAt }: FunctionDeployment) {
  const age = now - createdAt;
  if (world.settings.operations === "immediate" || age >= BUILT_AFTER_MS) return "completed";
  return age < PENDING_MS ? "pending" : "building";
}

function currentOf({ settings }: Shown<"function">): FunctionDeployment {
  const current = settings.deployments.at(-1);
  if (current === undefined) throw new Error("a function has a deployment");
  return current;
}

function renderResponse(shown: Shown<"function">) {
  return { function: renderFunction(shown) } satisfies public_.NeonFunctionResponse;
}

function renderFunction(shown: Shown<"function">) {
  const { world, branch, record, settings } = shown;
  const { deployments, name } = settings;
  const active = deployments.findLast((deployment) => statusOf(shown, deployment) === "completed");
  return {
    id: record.id,
    slug: record.fields.key,
    name: name ?? record.fields.key,
    invocation_url: functionUrl(world, branch, record.fields.key),
    current_deployment: renderDeployment(shown, currentOf(shown)),
    ...(active === undefined ? {} : { active_deployment: renderDeployment(shown, active) }),
    created_at: timestamp(record.createdAt),
  } satisfies public_.NeonFunction;
}

function renderDeployment(shown: Shown<"function">, deployment: FunctionDeployment) {
  const { id, createdAt, runtime, memory_mib, environment: variables } = deployment;
  return {
    id,
    status: statusOf(shown, deployment) as public_.NeonFunctionDeployment["status"],
    memory_mib,
    runtime,
    created_at: timestamp(createdAt),
    environment: [...variables],
  } satisfies public_.NeonFunctionDeployment;
}
