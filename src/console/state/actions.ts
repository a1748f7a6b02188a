import { control, platform } from "../client/request.ts";
import type { Advance, Branch, Compute, Project } from "../client/types.ts";
import { formatDuration } from "./format.ts";
import { attempt, notify } from "./notices.ts";
import { ask } from "./question.ts";
import { refreshAll } from "./refresh.ts";
import { reportAdvance } from "./trace.ts";
import { accounts, computes, findProject, nameOfCompute, selection } from "./world.ts";

// Actions of the user on the world. Calls of the platform API are made for the account that owns the project.

function accountOf(projectId: string): string {
  return findProject(projectId)?.account_id ?? accounts.value[0]?.id ?? "";
}

function callFor(projectId: string, method: string, path: string, body?: unknown): Promise<unknown> {
  return platform(accountOf(projectId), method, `/projects/${projectId}${path}`, body);
}

export async function advance(target: { by: string } | { to: string } | { next: true }): Promise<void> {
  const reached = await attempt(() => control<Advance>("POST", "/clock/advance", target));
  refreshAll();
  if (reached !== undefined) reportAdvance(reached);
}

export async function setClock(mode: string): Promise<void> {
  const factor = /^(\d+)x$/.exec(mode)?.[1];
  const body = factor === undefined ? { mode } : { mode: "scaled", factor: Number(factor) };
  await attempt(() => control("PUT", "/clock", body));
  refreshAll();
}

export function askForAdvance(): void {
  ask({
    title: "Advance the clock",
    fields: [
      {
        name: "target",
        label: "By a duration, or to an instant",
        placeholder: "45m or 2026-03-02T18:00:00Z",
        hint: "Everything that is due on the way happens at its own instant.",
        isRequired: true,
      },
    ],
    action: "Advance",
    onSubmit: async ({ target = "" }) => {
      const input = /^\d{4}-/.test(target) ? { to: target } : { by: target };
      const reached = await control<Advance>("POST", "/clock/advance", input);
      refreshAll();
      reportAdvance(reached);
    },
  });
}

export function createProject(): void {
  ask({
    title: "Create project",
    fields: [
      { name: "name", label: "Name", placeholder: "shop", isRequired: true },
      ...(accounts.value.length > 1
        ? [
            {
              name: "account",
              label: "Account",
              choices: accounts.value.map(({ id, name }) => ({ value: id, label: name })),
            },
          ]
        : []),
    ],
    action: "Create project",
    onSubmit: async ({ name = "", account = accounts.value[0]?.id ?? "" }) => {
      const created = await platform<{ project: { id: string } }>(account, "POST", "/projects", {
        project: { name },
      });
      selection.value = { kind: "project", id: created.project.id };
      refreshAll();
    },
  });
}

export function createBranch(project: Project, parent?: Branch): void {
  ask({
    title: "Create branch",
    text: parent && `The branch begins with the data of ${parent.name}, and has a compute.`,
    fields: [{ name: "name", label: "Name", placeholder: "preview/login", isRequired: true }],
    action: "Create branch",
    onSubmit: async ({ name = "" }) => {
      await callFor(project.id, "POST", "/branches", {
        branch: { name, ...(parent === undefined ? {} : { parent_id: parent.id }) },
        endpoints: [{ type: "read_write" }],
      });
      refreshAll();
    },
  });
}

export async function createCompute(branch: Branch, type: Compute["type"]): Promise<void> {
  const endpoint = { branch_id: branch.id, type };
  const created = await attempt(() => callFor(branch.project_id, "POST", "/endpoints", { endpoint }));
  refreshAll();
  if (created === undefined) return;
  selection.value = { kind: "compute", id: (created as { endpoint: { id: string } }).endpoint.id };
}

export function deleteProject({ id, name }: Project): void {
  confirmDeletion(`project ${name}`, () => callFor(id, "DELETE", ""));
}

export function deleteBranch({ id, name, project_id }: Branch): void {
  confirmDeletion(`branch ${name}`, () => callFor(project_id, "DELETE", `/branches/${id}`));
}

export function deleteCompute(compute: Compute): void {
  confirmDeletion(`the compute of ${nameOfCompute(compute)}`, () =>
    callFor(compute.project_id, "DELETE", `/endpoints/${compute.id}`),
  );
}

function confirmDeletion(what: string, remove: () => Promise<unknown>): void {
  ask({
    title: `Delete ${what}?`,
    text: "The simulated clock can go back only to a snapshot.",
    action: "Delete",
    isDangerous: true,
    onSubmit: async () => {
      await remove();
      selection.value = undefined;
      refreshAll();
    },
  });
}

export function commandCompute(compute: Compute, command: "start" | "suspend" | "restart"): Promise<unknown> {
  return attempt(() => callFor(compute.project_id, "POST", `/endpoints/${compute.id}/${command}`));
}

export function sendActivity(compute: Compute): void {
  ask({
    title: `Send activity to ${nameOfCompute(compute)}`,
    text: "A query wakes a suspended compute and postpones autosuspend.",
    fields: [
      { name: "duration", label: "Duration in milliseconds", value: "250" },
      { name: "load", label: "Busy vCPUs while it runs", placeholder: "0.5" },
    ],
    action: "Send",
    onSubmit: async ({ duration = "", load = "" }) => {
      await control("POST", "/activity", {
        endpoint_id: compute.id,
        kind: "query",
        ...(duration === "" ? {} : { duration_ms: Number(duration) }),
        ...(load === "" ? {} : { load: Number(load) }),
        source: "console",
      });
    },
  });
}

export function setDelay(compute: Compute, presentSeconds: number | null): void {
  ask({
    title: "Set the autosuspend delay",
    fields: [
      {
        name: "seconds",
        label: "Seconds without activity",
        value: presentSeconds === null ? "-1" : String(presentSeconds),
        hint: "0 is the default of the platform, −1 never suspends.",
        isRequired: true,
      },
    ],
    action: "Set delay",
    onSubmit: ({ seconds = "" }) =>
      callFor(compute.project_id, "PATCH", `/endpoints/${compute.id}`, {
        endpoint: { suspend_timeout_seconds: Number(seconds.replace("−", "-")) },
      }),
  });
}

/** Sets the delay of all computes, one call of the platform API for each. */
export function applyDelay(seconds: number): void {
  const targets = computes.value;
  ask({
    title: `Suspend after ${formatDuration(seconds * 1_000)}?`,
    text: `The autosuspend delay of ${targets.length} ${targets.length === 1 ? "compute" : "computes"} is set. A compute of a project with operations under way is left as it is, and named.`,
    action: "Set delays",
    onSubmit: async () => {
      const failed: string[] = [];
      for (const compute of targets) {
        const body = { endpoint: { suspend_timeout_seconds: seconds } };
        await callFor(compute.project_id, "PATCH", `/endpoints/${compute.id}`, body).catch((error: Error) =>
          failed.push(`${nameOfCompute(compute)}: ${error.message}`),
        );
      }
      if (failed.length > 0)
        notify("error", `${failed.length} of ${targets.length} were not set. ${failed[0]}`);
      else notify("done", `The autosuspend delay is now ${formatDuration(seconds * 1_000)}.`);
      refreshAll();
    },
  });
}

export async function connectionUri(branch: Branch): Promise<string | undefined> {
  const [role, database] = [branch.roles[0]?.name, branch.databases[0]?.name];
  if (role === undefined || database === undefined) return undefined;
  const query = new URLSearchParams({ branch_id: branch.id, role_name: role, database_name: database });
  const answer = (await callFor(branch.project_id, "GET", `/connection_uri?${query}`)) as { uri: string };
  return answer.uri;
}
