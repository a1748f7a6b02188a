import fc from "fast-check";
import { expect } from "vitest";
import { as, type Command, callApi, command, type ModelHost } from "./model-command.ts";
import {
  type Account,
  delayCases,
  type PlatformModel,
  pick,
  predict,
  refusesSize,
} from "./platform-model.ts";

const size = fc.constantFrom(undefined, 0.25, 0.25, 1, 2, 0.3, 99);
const delayS = fc.constantFrom(undefined, undefined, 0, 300, 60, 59, -1);

export const createProject: fc.Arbitrary<Command> = fc
  .record({ owner: fc.nat(1), cu: size, delayS })
  .map(({ owner, cu, delayS }) =>
    command(
      `create a project of account ${owner} with ${cu} CU and a delay of ${delayS}`,
      ({ projects }) => projects.filter(({ gone }) => !gone).length < 4,
      (model, stage) => setUpProject(model, stage, pick(model.accounts, owner), cu, delayS),
    ),
  );

/** R: its default branch gets a primary read-write compute. */
export async function setUpProject(
  model: PlatformModel,
  stage: ModelHost,
  account: Account,
  cu?: number,
  delayS?: number,
): Promise<void> {
  const projectFields = {
    ...(cu === undefined ? {} : { autoscaling_limit_min_cu: cu, autoscaling_limit_max_cu: cu }),
    ...(delayS === undefined ? {} : { default_endpoint_settings: { suspend_timeout_seconds: delayS } }),
  };
  const { status, body } = await stage
    .double()
    .api("POST", "/projects", { project: projectFields }, account.key);
  const defaultCu = cu ?? 0.25;
  const sizeCase = [422, refusesSize(account, defaultCu, defaultCu)] as const;
  expect(predict(201, [sizeCase, ...delayCases(account, delayS)]), JSON.stringify(body)).toContain(status);
  if (status !== 201) return;
  expect(body.operations).toMatchObject([{ action: "create_timeline" }, { action: "start_compute" }]);
  const project = {
    id: body.project.id,
    account,
    defaultCu,
    createdAt: model.now,
    stirredAt: model.now,
    gone: false,
  };
  const branch = {
    id: body.branch.id,
    project,
    parent: undefined,
    createdAt: model.now,
    name: "main",
    isDefault: true,
    isProtected: false,
    gone: false,
  };
  const size = { minCu: defaultCu, maxCu: defaultCu };
  model.projects.push(project);
  model.branches.push(branch);
  model.endpoints.push({
    ...{ id: body.endpoints[0].id, project, branch, type: "read_write" },
    ...{ ...size, delayS: delayS ?? 0, disabled: false, busyUntil: model.now, gone: false },
  });
}

export const updateProject: fc.Arbitrary<Command> = fc
  .record({ index: fc.nat(20), name: fc.string({ minLength: 1 }), as })
  .map(({ index, name, as }) =>
    command(
      `rename project ${index} as ${as} to ${JSON.stringify(name)}`,
      ({ projects }) => projects.length > 0,
      async (model, stage) => {
        const project = pick(model.projects, index);
        const call = { method: "PATCH", path: "", body: { project: { name } }, as };
        const { status, body } = await callApi(
          model,
          stage,
          project,
          call,
          predict(200, [[404, project.gone]]),
        );
        if (status === 200) expect(body.project.name).toBe(name);
      },
    ),
  );

export const deleteProject: fc.Arbitrary<Command> = fc
  .record({ index: fc.nat(20), as })
  .map(({ index, as }) =>
    command(
      `delete project ${index} as ${as}`,
      ({ projects }) => projects.length > 0,
      async (model, stage) => {
        const project = pick(model.projects, index);
        const guarded = model.branches.some(
          (branch) => branch.project === project && branch.isProtected && !branch.gone,
        );
        const predicted = predict(200, [[404, project.gone]], [[422, guarded]]);
        const { status } = await callApi(
          model,
          stage,
          project,
          { method: "DELETE", path: "", as },
          predicted,
        );
        if (status === 200) project.gone = true;
      },
    ),
  );

/** Accounts and keys stay; everything else is as in a new world. */
export const reset: fc.Arbitrary<Command> = fc.constant(
  command(
    "reset the world",
    ({ projects }) => projects.length > 0,
    async (model, stage) => {
      expect((await stage.double().sim("POST", "/reset")).status).toBe(200);
      for (const list of [model.projects, model.branches, model.endpoints, model.scheduledActivities])
        list.length = 0;
    },
  ),
);
