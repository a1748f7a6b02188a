import fc from "fast-check";
import { expect } from "vitest";
import type { ApiResponse } from "../answers/api-response.ts";
import { API_KEY, type Double, START } from "../double/double.ts";
import {
  type Account,
  branchesIn,
  type Durations,
  endpointsIn,
  LONGEST_OPERATIONS_MS,
  type PlatformModel,
  type Project,
} from "./platform-model.ts";

/** The target of commands: a double and, if its world is a file, a way to restart it. */
export type ModelHost = {
  readonly double: () => Double;
  readonly reopen?: (() => Promise<void>) | undefined;
};
export type Command = fc.AsyncCommand<PlatformModel, ModelHost>;

/** The caller: the owner of the project, the other account, or one with a revoked or an unknown key. */
export type CallerKind = "owner" | "stranger" | "revoked";
export const as: fc.Arbitrary<CallerKind> = fc.oneof(
  { weight: 18, arbitrary: fc.constant("owner" as const) },
  { weight: 1, arbitrary: fc.constantFrom("stranger" as const, "revoked" as const) },
);

const FREE_KEY = "f".repeat(64);

/** A model of a new double with an account on each plan. */
export async function modelOf(double: Double, durations: Durations): Promise<PlatformModel> {
  const paid = await double.sim("GET", "/accounts");
  const free = await double.sim("POST", "/accounts", {
    id: "thrifty",
    name: "thrifty",
    plan: "free",
    api_key: FREE_KEY,
  });
  const accounts: Account[] = [
    { id: paid.body.accounts[0].id, key: API_KEY, plan: "paid" },
    { id: free.body.account.id, key: FREE_KEY, plan: "free" },
  ];
  return {
    durations,
    now: START,
    accounts,
    projects: [],
    branches: [],
    endpoints: [],
    keys: [],
    scheduledActivities: [],
  };
}

/** A command. After each one the double equals the model and its invariants hold. */
export function command(
  text: string,
  check: (model: Readonly<PlatformModel>, host?: ModelHost) => boolean,
  run: (model: PlatformModel, host: ModelHost) => Promise<void>,
): Command {
  return {
    check: (model) => check(model),
    async run(model, host) {
      await run(model, host);
      await expectMatchesModel(model, host.double());
    },
    toString: () => text,
  };
}

export type Call = {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly as: CallerKind;
};

/** Calls the API for a project and expects one of these statuses, or 404 or 401 for other callers. */
export async function callApi(
  model: PlatformModel,
  host: ModelHost,
  project: Project,
  call: Call,
  predicted: readonly number[],
): Promise<ApiResponse> {
  const stranger = model.accounts.find((account) => account !== project.account);
  const revoked = model.keys.find((key) => key.revoked)?.secret ?? "r".repeat(64);
  const key = { owner: project.account.key, stranger: stranger?.key ?? "", revoked }[call.as];
  const expected = { owner: predicted, stranger: [404], revoked: [401] }[call.as];
  const response = await host
    .double()
    .api(call.method, `/projects/${project.id}${call.path}` as string, call.body, key);
  expect(
    expected,
    `${call.method} ${call.path}: ${response.status} ${JSON.stringify(response.body)}`,
  ).toContain(response.status);
  if (response.status < 300) project.stirredAt = model.now;
  return response;
}

/** Whether the project has unfinished operations, as its owner sees them. */
export async function isBusy(model: PlatformModel, host: ModelHost, project: Project): Promise<boolean> {
  if (project.gone) return false;
  const { body } = await host
    .double()
    .api("GET", `/projects/${project.id}/operations`, undefined, project.account.key);
  const busy = body.operations.some(
    ({ status }: { status: string }) => status === "scheduling" || status === "running",
  );
  if (model.durations === "none") expect(busy, "operations that take no time are over").toBe(false);
  else if (model.now > project.stirredAt + LONGEST_OPERATIONS_MS)
    expect(busy, "operations come to an end").toBe(false);
  return busy;
}

async function expectMatchesModel(model: PlatformModel, double: Double): Promise<void> {
  const invariants = await double.sim("GET", "/invariants");
  expect(invariants.body).toMatchObject({ ok: true, violations: [] });
  for (const account of model.accounts) {
    const { body } = await double.api("GET", "/projects?limit=400", undefined, account.key);
    const owned = model.projects.filter((project) => project.account === account && !project.gone);
    expect(idsOf(body.projects)).toEqual(idsOf(owned));
    for (const project of owned) await expectProject(model, double, project);
  }
  await expectAutosuspends(model, double);
}

/** Only recorded activity holds off an autosuspend. */
async function expectAutosuspends(model: PlatformModel, double: Double): Promise<void> {
  const { body } = await double.sim("GET", "/endpoints");
  for (const { endpoint_id, autosuspend } of body.endpoints) {
    const endpoint = model.endpoints.find(({ id }) => id === endpoint_id);
    if (endpoint === undefined || autosuspend.suspend_at === null) continue;
    const { stirredAt } = endpoint.project;
    if (model.now <= stirredAt + LONGEST_OPERATIONS_MS) continue;
    const latest =
      Math.max(stirredAt, endpoint.busyUntil) + LONGEST_OPERATIONS_MS + autosuspend.delay_s * 1_000;
    expect(Date.parse(autosuspend.suspend_at), `the autosuspend of ${endpoint_id}`).toBeLessThanOrEqual(
      latest,
    );
  }
}

async function expectProject(model: PlatformModel, double: Double, project: Project): Promise<void> {
  const { key } = project.account;
  const { body: listed } = await double.api("GET", `/projects/${project.id}/branches`, undefined, key);
  expect(byId(listed.branches)).toMatchObject(
    byId(branchesIn(model, project)).map((branch) => ({
      id: branch.id,
      name: branch.name,
      default: branch.isDefault,
      protected: branch.isProtected,
      ...(branch.parent === undefined ? {} : { parent_id: branch.parent.id }),
    })),
  );
  const { body } = await double.api("GET", `/projects/${project.id}/endpoints`, undefined, key);
  expect(byId(body.endpoints)).toMatchObject(
    byId(endpointsIn(model, project)).map((endpoint) => ({
      id: endpoint.id,
      branch_id: endpoint.branch.id,
      type: endpoint.type,
      autoscaling_limit_min_cu: endpoint.minCu,
      autoscaling_limit_max_cu: endpoint.maxCu,
      suspend_timeout_seconds: endpoint.delayS,
      disabled: endpoint.disabled,
    })),
  );
  const isSettled = !(await isBusy(model, { double: () => double }, project));
  for (const endpoint of body.endpoints) {
    expect(endpoint).not.toHaveProperty("pending_state");
    if (!isSettled) continue;
    expect(endpoint.disabled ? ["idle"] : ["active", "idle"], `${endpoint.id} has settled`).toContain(
      endpoint.current_state,
    );
  }
}

function byId<T extends { readonly id: string }>(list: readonly T[]): T[] {
  return [...list].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function idsOf(list: readonly { readonly id: string }[]): string[] {
  return list.map(({ id }) => id).sort();
}
