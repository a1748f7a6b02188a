import { Hono } from "hono";
import * as z from "zod";
import { found } from "../../http/request.ts";
import { findSnapshot, snapshotsOf } from "../../platform/branch/branch-snapshot.ts";
import { computesOnBranch, findProject } from "../../platform/lookup.ts";
import { id, instant, lsn, name, notBoth } from "../http/query-fields.ts";
import type { Call, Caller } from "../http/request-context.ts";
import { renderBranch, renderSnapshot } from "../render/render-branch.ts";
import { renderScheduled, renderSettlingEndpoint } from "../render/render-objects.ts";
import { branchOf, onBranch, targetOf } from "./branches.ts";

const inProject = z.object({ project_id: id });
const onSnapshot = z.object({ project_id: id, snapshot_id: id });
type OnSnapshot = Call<z.output<typeof onSnapshot>, unknown, unknown>;

const LONGEST_SCHEDULE = 100; // A
const SHORTEST_RETENTION_S = 3_600; // S

const DAYS_IN_A_WEEK = 7;

const scheduleItem = z
  .object({
    frequency: z.enum(["hourly", "daily", "weekly", "monthly", "yearly"]),
    hour: z.int().min(0).max(23).optional(),
    day: z.int().min(1).max(31).optional(),
    month: z.int().min(1).max(12).optional(),
    retention_seconds: z.int().min(SHORTEST_RETENTION_S).optional(),
  })
  .refine(({ frequency, day = 1 }) => frequency !== "weekly" || day <= DAYS_IN_A_WEEK, {
    // S: of the week or of the month; that a ninth day of the week is an error is A.
    message: "must be 1 (Monday) to 7 (Sunday) where the frequency is weekly",
    path: ["day"],
  });

/** S: snapshots of branches. Those of a whole world are ours, and at /_sim/snapshots. */
export function snapshotRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.post(
    "/projects/:project_id/branches/:branch_id/snapshot",
    caller.route(
      {
        params: onBranch,
        query: z
          .object({ lsn: lsn.optional(), timestamp: instant.optional(), name: name.optional(), expires_at: instant.optional() })
          .refine(...notBoth("lsn", "timestamp")),
      },
      (call) => {
        const { expires_at: expiresAt, ...asked } = call.query;
        for (const event of call.execute({ type: "CreateSnapshot", ...targetOf(call), ...asked, expiresAt })) {
          // A: it is there at once; nothing has to be waited for.
          if (event.type === "SnapshotCreated") return { snapshot: renderSnapshot(call.turn.world, event.snapshot), operations: [] };
        }
        throw new Error("CreateSnapshot created none");
      },
    ),
  );

  app.get(
    "/projects/:project_id/snapshots",
    caller.route({ params: inProject }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      return { snapshots: snapshotsOf(turn.world, project.id).map((snapshot) => renderSnapshot(turn.world, snapshot)) };
    }),
  );

  app.patch(
    "/projects/:project_id/snapshots/:snapshot_id",
    caller.route({ params: onSnapshot, body: z.object({ snapshot: z.object({ name: name.optional() }) }) }, (call) => {
      const { name: newName } = call.body.snapshot;
      if (newName !== undefined) call.execute({ type: "UpdateSnapshot", ...snapshotOf(call), name: newName });
      return { snapshot: renderSnapshot(call.turn.world, found(findSnapshot(call.turn.world, snapshotOf(call)))) };
    }),
  );

  app.delete(
    "/projects/:project_id/snapshots/:snapshot_id",
    caller.route({ status: 202, params: onSnapshot }, (call) => {
      call.execute({ type: "DeleteSnapshot", ...snapshotOf(call) });
      return { operations: [] };
    }),
  );

  app.post(
    "/projects/:project_id/snapshots/:snapshot_id/restore",
    caller.route(
      {
        params: onSnapshot,
        query: z.object({ name: name.optional() }),
        body: z.object({ name: name.optional(), target_branch_id: id.optional(), finalize_restore: z.boolean().optional() }).optional(),
      },
      (call) => {
        const { body, query, turn } = call;
        const events = call.execute({
          type: "RestoreSnapshot",
          ...snapshotOf(call),
          name: body?.name ?? query.name,
          targetBranchId: body?.target_branch_id,
          finalize: body?.finalize_restore ?? false,
        });
        const created = events.find((event) => event.type === "BranchCreated");
        const branch = created && turn.world.branches.get(created.branch.id);
        if (branch === undefined) throw new Error("RestoreSnapshot created no branch");
        const computes = computesOnBranch(turn.world, branch.id);
        return {
          branch: renderBranch(turn.world, branch, turn.now),
          endpoints: computes.map((compute) => renderSettlingEndpoint(turn.world, compute, turn.now)),
          operations: renderScheduled(events, turn.now),
        };
      },
    ),
  );

  app.get(
    "/projects/:project_id/branches/:branch_id/backup_schedule",
    caller.route({ params: onBranch }, (call) => ({ schedule: branchOf(call).backupSchedule?.items ?? [] })),
  );

  app.put(
    "/projects/:project_id/branches/:branch_id/backup_schedule",
    caller.route({ params: onBranch, body: z.object({ schedule: z.array(scheduleItem).max(LONGEST_SCHEDULE) }) }, (call) => {
      call.execute({ type: "SetBackupSchedule", ...targetOf(call), items: call.body.schedule });
      return {};
    }),
  );

  return app;
}

function snapshotOf({ account, params }: OnSnapshot) {
  return { accountId: account.id, projectId: params.project_id, snapshotId: params.snapshot_id };
}
