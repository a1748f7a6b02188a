import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyWorld } from "../../src/platform/world/world.ts";
import { replay } from "../../src/simulation/replay.ts";
import type { AnsweredEvent } from "../support/answers/control-answers.ts";
import { journalOf } from "../support/double/call-log.ts";
import { createDouble, type Double, START } from "../support/double/double.ts";
import { commandSequences, runCommands } from "../support/model/commands.ts";
import type { PlatformModel, Project } from "../support/model/platform-model.ts";
import { eventsOf, renderedState, worldStateText } from "../support/model/recorded-run.ts";
import { expectHolds } from "../support/properties/properties.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Span = { readonly from: number; readonly to: number; readonly cu: number };
type Compute = {
  readonly project: string;
  branch: string;
  range: { readonly minCu: number; readonly maxCu: number };
  /** While active: since when, and with which size. */
  active: { since: number; cu: number } | undefined;
  suspending: boolean;
};

/**
 * For each project and branch, which sizes were active when, until `now`: a ledger derived from events alone.
 */
function spansOf(journal: readonly AnsweredEvent[], now: number): Map<string, Span[]> {
  const computes = new Map<string, Compute>();
  const spans = new Map<string, Span[]>();
  const book = (compute: Compute, at: number, cu?: number) => {
    if (compute.active === undefined) return;
    const span = { from: compute.active.since, to: at, cu: compute.active.cu };
    for (const id of [compute.project, compute.branch]) spans.set(id, [...(spans.get(id) ?? []), span]);
    compute.active = cu === undefined ? undefined : { since: at, cu };
  };
  for (const event of journal) {
    const at = Date.parse(event.at);
    if (event.type === "WorldReset") {
      computes.clear();
      spans.clear();
    }
    if (event.type === "ComputeCreated") {
      const { id, project_id: project, branch_id: branch, range } = event.compute;
      const limits = { minCu: range.min_cu, maxCu: range.max_cu };
      computes.set(id, {
        project,
        branch,
        range: limits,
        active: undefined,
        suspending: false,
      });
    }
    const compute = computes.get(event.endpoint_id ?? event.activity?.endpoint_id);
    if (compute === undefined) continue;
    switch (event.type) {
      case "ComputeActivated":
        compute.active = { since: at, cu: compute.range.minCu };
        compute.suspending = false;
        break;
      case "ComputeResized":
        book(compute, at, event.size_cu);
        break;
      case "ComputeUpdated": {
        book(compute, at, compute.active?.cu);
        const { branch_id, range } = event.changes;
        compute.branch = branch_id ?? compute.branch;
        if (range !== undefined) compute.range = { minCu: range.min_cu, maxCu: range.max_cu };
        break;
      }
      case "ComputeSuspending":
        compute.suspending = compute.active !== undefined;
        break;
      case "ComputeSuspended":
        book(compute, at);
        compute.suspending = false;
        break;
      case "ComputeDeleted":
        book(compute, at);
        computes.delete(event.endpoint_id);
    }
  }
  for (const compute of computes.values()) book(compute, now);
  return spans;
}

/** Whole seconds of active time and of compute time, from the beginning of the month to `at`. */
function secondsBy(
  spans: readonly Span[],
  monthStart: number,
  at: number,
): readonly [active: number, compute: number] {
  let active = 0;
  let compute = 0;
  for (const { from, to, cu } of spans) {
    const within = Math.max(0, Math.min(to, at) - Math.max(from, monthStart));
    active += within;
    compute += within * cu;
  }
  return [Math.floor(active / 1_000), Math.floor(compute / 1_000)];
}

function monthOf(at: number): number {
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
}

const iso = (at: number) => new Date(at).toISOString();
const GRANULARITIES = [
  { granularity: "hourly", backMs: 168 * HOUR },
  { granularity: "daily", backMs: 60 * DAY },
  { granularity: "monthly", backMs: 365 * DAY },
] as const;

/**
 * Compares the reported usage of a project and its branches with the ledger, in both versions, for each
 * timeframe.
 */
async function expectConsumption(
  double: Double,
  project: Project,
  spans: ReadonlyMap<string, Span[]>,
  now: number,
): Promise<void> {
  const { key } = project.account;
  const { body: own } = await double.api("GET", "/users/me/organizations", undefined, key);
  const org = own.organizations[0].id;
  for (const { granularity, backMs } of GRANULARITIES) {
    const window = `from=${iso(Math.max(START, now - backMs))}&to=${iso(now + 31 * DAY)}&granularity=${granularity}&project_ids=${project.id}`;
    const getConsumption = async (path: string) => {
      const { status, body } = await double.api(
        "GET",
        `/consumption_history/${path}${window}`,
        undefined,
        key,
      );
      expect(status, JSON.stringify(body)).toBe(project.account.plan === "free" ? 403 : 200);
      return body;
    };
    const reported = await getConsumption("projects?");
    const reportedV2 = await getConsumption(`v2/projects?org_id=${org}&metrics=compute_unit_seconds&`);
    const branches = await getConsumption(`v2/branches?org_id=${org}&metrics=compute_unit_seconds&`);
    if (project.account.plan === "free") continue;
    expectFrames(reported.projects[0].periods, spans.get(project.id) ?? [], (frame) => [
      frame.active_time_seconds,
      frame.compute_time_seconds,
    ]);
    for (const one of [...reportedV2.projects, ...branches.branches]) {
      expectFrames(
        one.periods,
        spans.get("branch_id" in one ? one.branch_id : one.project_id) ?? [],
        (frame) => [undefined, frame.metrics?.[0]?.value],
      );
    }
  }
}

/** A period of either version of the call. */
type Period = {
  readonly period_start: string;
  readonly consumption: readonly Timeframe[];
};
type Timeframe = {
  readonly timeframe_start: string;
  readonly timeframe_end: string;
  readonly active_time_seconds?: number;
  readonly compute_time_seconds?: number;
  readonly metrics?: readonly { readonly value: number }[];
};

function expectFrames(
  periods: readonly Period[],
  spans: readonly Span[],
  valuesOf: (frame: Timeframe) => (number | undefined)[],
): void {
  for (const period of periods) {
    let last: string | undefined;
    for (const frame of period.consumption) {
      expect(last ?? frame.timeframe_start, "no timeframe is left out").toBe(frame.timeframe_start);
      last = frame.timeframe_end;
      const [start, end] = [Date.parse(frame.timeframe_start), Date.parse(frame.timeframe_end)];
      expect(iso(monthOf(start)).slice(0, 19)).toBe(period.period_start.slice(0, 19));
      const before = secondsBy(spans, monthOf(start), start);
      const after = secondsBy(spans, monthOf(start), end);
      const [active, compute] = valuesOf(frame);
      expect(compute, frame.timeframe_start).toBe(after[1] - before[1]);
      if (active !== undefined) expect(active, frame.timeframe_start).toBe(after[0] - before[0]);
    }
  }
}

const projectsThere = (model: PlatformModel) => model.projects.filter(({ gone }) => !gone);

test("compute time, active time and consumption agree with the journal to the second", async () => {
  await expectHolds(
    fc.asyncProperty(commandSequences({ keys: false }), async (commands) => {
      const double = await createDouble();
      const model = await runCommands(commands, { double: () => double });
      const journal = await journalOf(double);
      const spans = spansOf(journal, model.now);
      for (const project of projectsThere(model)) {
        await expectConsumption(double, project, spans, model.now);
        const { project: reported } = (
          await double.api("GET", `/projects/${project.id}`, undefined, project.account.key)
        ).body;
        const own = spans.get(project.id) ?? [];
        expect([reported.active_time_seconds, reported.compute_time_seconds]).toEqual(
          secondsBy(own, monthOf(model.now), model.now),
        );
        expect(reported.cpu_used_sec).toBe(secondsBy(own, START, model.now)[1]);
      }
      const world = emptyWorld();
      replay(await eventsOf(double), world);
      expect(renderedState(world)).toBe(await worldStateText(double));
      await double.close();
    }),
    60,
  );
});
