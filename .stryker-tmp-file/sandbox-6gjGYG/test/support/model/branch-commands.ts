// @ts-nocheck
import fc from "fast-check";
import { expect } from "vitest";
import { advance } from "./clock.ts";
import { as, type Command, callApi, command, isBusy } from "./model-command.ts";
import { type Branch, branchesIn, isNameTaken, pick, predict } from "./platform-model.ts";

const BRANCHES_LIMIT = { free: 10, paid: 5_000 };
const branchName = fc.constantFrom(undefined, "main", "dev", "preview/1", "test");
/** The first log position of every project. */
const lsn = fc.constantFrom(undefined, undefined, "0/1E88838");
const HISTORY_MS = 86_400_000;
const types = fc.array(fc.constantFrom("read_write" as const, "read_write" as const, "read_only" as const), {
  maxLength: 3,
});

export const createBranch: fc.Arbitrary<Command> = fc
  .record({ parent: fc.nat(40), name: branchName, types, isProtected: fc.boolean(), lsn, as })
  .map(({ parent: index, name, types, isProtected, lsn, as }) =>
    command(
      `create branch ${name} as ${as} from branch ${index} at ${lsn} with ${types.join("+") || "no computes"}${isProtected ? ", protected" : ""}`,
      ({ branches }) => branches.length > 0,
      async (model, stage) => {
        const parent = pick(model.branches, index);
        const { project } = parent;
        const endpoints = types.map((type) => ({ type }));
        const branch = { parent_id: parent.id, protected: isProtected, parent_lsn: lsn, name };
        const call = { method: "POST", path: "/branches", body: { branch, endpoints }, as };
        const { plan } = project.account;
        const isBeforeHistory =
          lsn !== undefined &&
          (parent.createdAt > project.createdAt || model.now - project.createdAt > HISTORY_MS);
        const predicted = predict(
          201,
          [[404, parent.gone || project.gone]],
          [
            [
              409,
              isNameTaken(model, project, name) || types.filter((type) => type === "read_write").length > 1,
            ],
            [422, isBeforeHistory],
            [
              422,
              branchesIn(model, project).length >= BRANCHES_LIMIT[plan] ||
                (plan === "free" && types.includes("read_only")),
            ],
          ],
          [[423, await isBusy(model, stage, project)]],
        );
        const { status, body } = await callApi(model, stage, project, call, predicted);
        if (status !== 201) return;
        expect(body.operations.map(({ action }: { action: string }) => action)).toEqual([
          "create_branch",
          ...types.map(() => "start_compute"),
        ]);
        if (lsn !== undefined) expect(body.branch.parent_lsn).toBe(lsn);
        else expect(body.branch.parent_lsn).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
        const created = {
          id: body.branch.id,
          project,
          parent,
          createdAt: model.now,
          name: body.branch.name,
          isDefault: false,
          isProtected,
          gone: false,
        };
        model.branches.push(created);
        const size = { minCu: project.defaultCu, maxCu: project.defaultCu };
        for (const { id, type, suspend_timeout_seconds: delayS } of body.endpoints) {
          model.endpoints.push({
            id,
            project,
            branch: created,
            type,
            ...size,
            delayS,
            disabled: false,
            busyUntil: model.now,
            gone: false,
          });
        }
      },
    ),
  );

export const updateBranch: fc.Arbitrary<Command> = fc
  .record({
    index: fc.nat(40),
    name: branchName,
    isProtected: fc.constantFrom(undefined, true, false, false),
    as,
  })
  .map(({ index, name, isProtected, as }) =>
    command(
      `change branch ${index} as ${as}: name ${name}, protected ${isProtected}`,
      ({ branches }) => branches.length > 0,
      async (model, stage) => {
        const branch = pick(model.branches, index);
        const { project } = branch;
        const body = {
          branch: {
            ...(name === undefined ? {} : { name }),
            ...(isProtected === undefined ? {} : { protected: isProtected }),
          },
        };
        const predicted = predict(
          200,
          [[404, isBranchGone(branch)]],
          [[409, isNameTaken(model, project, name, branch)]],
        );
        const { status } = await callApi(
          model,
          stage,
          project,
          { method: "PATCH", path: `/branches/${branch.id}`, body, as },
          predicted,
        );
        if (status !== 200) return;
        branch.name = name ?? branch.name;
        branch.isProtected = isProtected ?? branch.isProtected;
      },
    ),
  );

export const setDefaultBranch: fc.Arbitrary<Command> = fc
  .record({ index: fc.nat(40), as })
  .map(({ index, as }) =>
    command(
      `make branch ${index} the default as ${as}`,
      ({ branches }) => branches.length > 0,
      async (model, stage) => {
        const branch = pick(model.branches, index);
        const { project } = branch;
        const call = { method: "POST", path: `/branches/${branch.id}/set_as_default`, as };
        const { status } = await callApi(
          model,
          stage,
          project,
          call,
          predict(200, [[404, isBranchGone(branch)]]),
        );
        if (status !== 200) return;
        for (const other of branchesIn(model, project)) other.isDefault = other === branch;
      },
    ),
  );

export const deleteBranch: fc.Arbitrary<Command> = fc.record({ index: fc.nat(40), as }).map(({ index, as }) =>
  command(
    `delete branch ${index} as ${as}`,
    ({ branches }) => branches.length > 0,
    async (model, stage) => {
      const branch = pick(model.branches, index);
      const { project } = branch;
      const hasChildren = branchesIn(model, project).some(({ parent }) => parent === branch);
      const isUndeletable =
        branch.isDefault || branch.parent === undefined || branch.isProtected || hasChildren;
      const predicted = predict(
        200,
        [[404, isBranchGone(branch)]],
        [[422, isUndeletable]],
        [[423, await isBusy(model, stage, project)]],
      );
      const { status } = await callApi(
        model,
        stage,
        project,
        { method: "DELETE", path: `/branches/${branch.id}`, as },
        predicted,
      );
      if (status === 200) branch.gone = true;
    },
  ),
);

/** CI jobs leak branches until the limit is reached. */
export const leakBranches: fc.Arbitrary<Command> = fc.nat(20).map((index) =>
  command(
    `create branches in project ${index} until its plan refuses`,
    ({ projects }) => projects.some(isOnFreePlan),
    async (model, stage) => {
      const project = pick(model.projects.filter(isOnFreePlan), index);
      const root = model.branches.find((branch) => branch.project === project && branch.isDefault);
      for (let count = branchesIn(model, project).length; count <= BRANCHES_LIMIT.free; count += 1) {
        await advance(model, stage, { by: 60_000 });
        const busy = await isBusy(model, stage, project);
        const call = { method: "POST", path: "/branches", body: {}, as: "owner" as const };
        const { status, body } = await callApi(
          model,
          stage,
          project,
          call,
          predict(201, [[422, count === BRANCHES_LIMIT.free]], [[423, busy]]),
        );
        if (status === 422) expect(body.code).toBe("BRANCHES_LIMIT_EXCEEDED");
        if (status !== 201) return;
        const { id, name } = body.branch;
        model.branches.push({
          id,
          project,
          parent: root,
          createdAt: model.now,
          name,
          isDefault: false,
          isProtected: false,
          gone: false,
        });
      }
    },
  ),
);

function isOnFreePlan({ account, gone }: { account: { plan: string }; gone: boolean }): boolean {
  return account.plan === "free" && !gone;
}

function isBranchGone(branch: Branch): boolean {
  return branch.gone || branch.project.gone;
}
