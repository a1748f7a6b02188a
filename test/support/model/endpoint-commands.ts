import fc from "fast-check";
import { expect } from "vitest";
import type { Double } from "../double/double.ts";
import {
  as,
  type CallerKind,
  type Command,
  callApi,
  command,
  isBusy,
  type ModelHost,
} from "./model-command.ts";
import {
  delayCases,
  type Endpoint,
  hasPrimary,
  isGone,
  pick,
  predict,
  refusesSize,
} from "./platform-model.ts";

const range = fc.constantFrom<(number[] | undefined)[]>(
  undefined,
  undefined,
  [0.25, 0.25],
  [1, 1],
  [0.5, 4],
  [2, 10],
  [4, 1],
  [0.3, 1],
  [1, 11],
);
const delayS = fc.constantFrom(
  undefined,
  undefined,
  undefined,
  0,
  300,
  60,
  59,
  3_600,
  604_800,
  604_801,
  -1,
  -2,
);
const disabled = fc.constantFrom(undefined, undefined, undefined, true, false);

export const createEndpoint: fc.Arbitrary<Command> = fc
  .record({
    branch: fc.nat(40),
    type: fc.constantFrom("read_write" as const, "read_only" as const),
    range,
    delayS,
    disabled,
    as,
  })
  .map(({ branch: index, type, range, delayS, disabled, as }) =>
    command(
      `create a ${type} compute as ${as} on branch ${index}: ${describeOptions({ range, delayS, disabled })}`,
      ({ branches }) => branches.length > 0,
      async (model, stage) => {
        const branch = pick(model.branches, index);
        const { project } = branch;
        const { account } = project;
        const [minCu, maxCu] = range ?? [project.defaultCu, project.defaultCu];
        const predicted = predict(
          201,
          [[404, branch.gone || project.gone]],
          [
            [409, type === "read_write" && hasPrimary(model, branch)],
            [
              422,
              (type === "read_only" && account.plan === "free") ||
                refusesSize(account, minCu ?? 0, maxCu ?? 0),
            ],
            ...delayCases(account, delayS),
          ],
          [[423, await isBusy(model, stage, project)]],
        );
        const endpoint = { branch_id: branch.id, type, ...fields({ range, delayS, disabled }) };
        const { status, body } = await callApi(
          model,
          stage,
          project,
          { method: "POST", path: "/endpoints", body: { endpoint }, as },
          predicted,
        );
        if (status === 409) expect(body.message).toContain("read_write endpoint already exists");
        if (status !== 201) return;
        const { id, suspend_timeout_seconds, current_state, pending_state } = body.endpoint;
        expect([current_state, pending_state]).toEqual(disabled ? ["idle", "idle"] : ["init", "active"]);
        expect(body.operations).toMatchObject(
          disabled ? [] : [{ action: "start_compute", status: "running", endpoint_id: id }],
        );
        model.endpoints.push({
          ...{ id, project, branch, type, minCu: minCu ?? 0, maxCu: maxCu ?? 0 },
          ...{
            delayS: suspend_timeout_seconds,
            disabled: disabled ?? false,
            busyUntil: model.now,
            gone: false,
          },
        });
      },
    ),
  );

export const updateEndpoint: fc.Arbitrary<Command> = fc
  .record({
    index: fc.nat(60),
    branch: fc.option(fc.nat(40), { freq: 2, nil: undefined }),
    range,
    delayS,
    disabled,
    as,
  })
  .map(({ index, branch: to, range, delayS, disabled, as }) =>
    command(
      `change compute ${index} as ${as}: ${describeOptions({ to, range, delayS, disabled })}`,
      ({ endpoints }) => endpoints.length > 0,
      async (model, stage) => {
        const endpoint = pick(model.endpoints, index);
        const { project } = endpoint;
        const { account } = project;
        const target =
          to === undefined
            ? undefined
            : pick(
                model.branches.filter((branch) => branch.project === project),
                to,
              );
        const [minCu, maxCu] = range ?? [endpoint.minCu, endpoint.maxCu];
        const busy = await isBusy(model, stage, project);
        // R: in any state. A: only the branch that it moves to may be locked.
        const isLocked = busy && target !== undefined;
        const predicted = predict(
          200,
          [[404, isGone(endpoint) || target?.gone === true]],
          [
            [
              409,
              target !== undefined && endpoint.type === "read_write" && hasPrimary(model, target, endpoint),
            ],
            [422, refusesSize(account, minCu ?? 0, maxCu ?? 0)],
            ...delayCases(account, delayS),
          ],
          [[423, isLocked]],
        );
        const changes = {
          ...(target === undefined ? {} : { branch_id: target.id }),
          ...fields({ range, delayS, disabled }),
        };
        const call = { method: "PATCH", path: `/endpoints/${endpoint.id}`, body: { endpoint: changes }, as };
        const { status, body } = await callApi(model, stage, project, call, predicted);
        if (status !== 200) return;
        if (target !== undefined || range !== undefined) {
          expect(body.operations).toMatchObject([
            { action: "apply_config", status: "running" },
            { action: "suspend_compute", status: "scheduling" },
          ]);
          expect(body.endpoint.pending_state).toBe("idle");
          // An update that repeats the current values ends no query.
          const isMoved = target !== undefined && target !== endpoint.branch;
          if (isMoved || minCu !== endpoint.minCu || maxCu !== endpoint.maxCu) endpoint.busyUntil = model.now;
        } else if (disabled === undefined) {
          expect(body.operations).toMatchObject([{ action: "apply_config", status: "running" }]);
          if (!busy) expect(body.endpoint.pending_state).toBe(body.endpoint.current_state);
        }
        Object.assign(endpoint, { branch: target ?? endpoint.branch, minCu, maxCu });
        Object.assign(endpoint, {
          delayS: delayS ?? endpoint.delayS,
          disabled: disabled ?? endpoint.disabled,
        });
      },
    ),
  );

export const deleteEndpoint: fc.Arbitrary<Command> = fc
  .record({ index: fc.nat(60), as })
  .map(({ index, as }) =>
    command(
      `delete compute ${index} as ${as}`,
      ({ endpoints }) => endpoints.length > 0,
      async (model, stage) => {
        const endpoint = pick(model.endpoints, index);
        const call = { method: "DELETE", path: `/endpoints/${endpoint.id}`, as };
        const predicted = predict(200, [[404, isGone(endpoint)]], [[422, endpoint.branch.isProtected]]);
        const { status, body } = await callApi(model, stage, endpoint.project, call, predicted);
        if (status !== 200) return;
        expect(body.operations).toEqual([]);
        expect(body.endpoint).not.toHaveProperty("pending_state");
        endpoint.gone = true;
      },
    ),
  );

const OPERATIONS = {
  start: ["start_compute"],
  suspend: ["suspend_compute"],
  restart: ["suspend_compute", "start_compute"],
} as const;

type LifecycleCall = {
  readonly index: number;
  readonly verb: keyof typeof OPERATIONS;
  readonly as: CallerKind;
};

export const startSuspendRestart: fc.Arbitrary<Command> = fc
  .record({ index: fc.nat(60), verb: fc.constantFrom("start", "suspend", "restart"), as })
  .map(callLifecycle);

export function callLifecycle({ index, verb, as }: LifecycleCall): Command {
  return command(
    `${verb} compute ${index} as ${as}`,
    ({ endpoints }) => endpoints.length > 0,
    async (model, stage) => {
      const endpoint = pick(model.endpoints, index);
      const { project } = endpoint;
      const state = await currentState(stage, endpoint);
      const alreadySo = (verb === "start" && state === "active") || (verb === "suspend" && state === "idle");
      const busy = await isBusy(model, stage, project);
      // A start that a call has scheduled locks the compute. One that traffic caused serves the call, too.
      const isStarting = verb === "start" && (await isBeingStarted(stage, endpoint));
      const refused = endpoint.disabled && verb !== "suspend";
      // A call that schedules nothing causes no conflict. Whether it is rejected meanwhile is not documented.
      const predicted =
        busy && alreadySo && !refused && !isGone(endpoint)
          ? [200, 423]
          : predict(200, [[404, isGone(endpoint)]], [[422, refused]], [[423, busy && verb !== "restart"]]);
      const { status, body } = await callApi(
        model,
        stage,
        project,
        { method: "POST", path: `/endpoints/${endpoint.id}/${verb}`, as },
        predicted,
      );
      if (status !== 200 || alreadySo) return;
      if (verb !== "start") endpoint.busyUntil = model.now;
      const scheduled = isStarting ? [] : OPERATIONS[verb];
      expect(body.operations.map(({ action }: { action: string }) => action)).toEqual(scheduled);
    },
  );
}

async function isBeingStarted(stage: ModelHost, { id, project }: Endpoint): Promise<boolean> {
  const { body } = await stage
    .double()
    .api("GET", `/projects/${project.id}/operations`, undefined, project.account.key);
  return (body.operations ?? []).some(
    ({ action, endpoint_id, status }) =>
      action === "start_compute" && endpoint_id === id && (status === "scheduling" || status === "running"),
  );
}

async function currentState(stage: { double(): Pick<Double, "sim"> }, { id }: Endpoint): Promise<string> {
  return (await stage.double().sim("GET", `/endpoints/${id}/stats`)).body.current_state;
}

type EndpointOptions = {
  range: number[] | undefined;
  delayS: number | undefined;
  disabled: boolean | undefined;
};

function fields({ range, delayS, disabled }: EndpointOptions): Record<string, unknown> {
  return {
    ...(range === undefined
      ? {}
      : { autoscaling_limit_min_cu: range[0], autoscaling_limit_max_cu: range[1] }),
    ...(delayS === undefined ? {} : { suspend_timeout_seconds: delayS }),
    ...(disabled === undefined ? {} : { disabled }),
  };
}

function describeOptions(options: Record<string, unknown>): string {
  return JSON.stringify(options);
}
