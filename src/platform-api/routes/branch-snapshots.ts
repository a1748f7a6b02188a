import * as z from "zod";
import { id, instant } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { requiredEvent } from "../../http/required-event.ts";
import { findSnapshot, snapshotsOf } from "../../platform/rules/branch/decide-snapshot.ts";
import { computesOnBranch, findProject } from "../../platform/world/lookup.ts";
import { branchParams, branchTarget, requestedBranch } from "../http/branch-request.ts";
import { atMostOne, lsn, name } from "../http/request-fields.ts";
import { type ApiRoute, type RequestContext, route } from "../http/route.ts";
import { renderBranch, renderSnapshot } from "../render/render-branch.ts";
import { renderPendingEndpoint } from "../render/render-endpoint.ts";
import { renderScheduledOperations } from "../render/render-operation.ts";

const projectParams = z.object({ project_id: id });
const snapshotParams = z.object({ project_id: id, snapshot_id: id });
type SnapshotRequest = RequestContext<z.output<typeof snapshotParams>, unknown, unknown>;

const MAX_SCHEDULE_ITEMS = 100; // A
const MIN_RETENTION_S = 3_600; // S

const DAYS_IN_A_WEEK = 7;

const scheduleItem = z
  .object({
    frequency: z.enum(["hourly", "daily", "weekly", "monthly", "yearly"]),
    hour: z.int().min(0).max(23).optional(),
    day: z.int().min(1).max(31).optional(),
    month: z.int().min(1).max(12).optional(),
    retention_seconds: z.int().min(MIN_RETENTION_S).optional(),
  })
  .refine(({ frequency, day = 1 }) => frequency !== "weekly" || day <= DAYS_IN_A_WEEK, {
    // S: a day of the week or of the month. A: a day of the week above 7 is an error.
    message: "must be 1 (Monday) to 7 (Sunday) if the frequency is weekly",
    path: ["day"],
  });

/** S: snapshots of branches. Snapshots of a world are at /_sim/snapshots. */
export function snapshotRoutes(): readonly ApiRoute[] {
  return [
    createSnapshot,
    listSnapshots,
    updateSnapshot,
    deleteSnapshot,
    restoreSnapshot,
    getSnapshotSchedule,
    setSnapshotSchedule,
  ];
}

const createSnapshot = route(
  "POST /projects/:project_id/branches/:branch_id/snapshot",
  {
    params: branchParams,
    query: z
      .object({
        lsn: lsn.optional(),
        timestamp: instant.optional(),
        name: name.optional(),
        expires_at: instant.optional(),
      })
      .refine(...atMostOne("lsn", "timestamp")),
  },
  (request) => {
    const { expires_at: expiresAt, ...input } = request.query;
    const events = request.execute({
      type: "CreateSnapshot",
      ...branchTarget(request),
      ...input,
      writtenAt: request.writtenAt(request.params.branch_id, input.lsn),
      expiresAt,
    });
    const { snapshot } = requiredEvent(events, "SnapshotCreated");
    // A: the snapshot exists at once, without operations to wait for.
    return { snapshot: renderSnapshot(request.transaction.world, snapshot), operations: [] };
  },
);

const listSnapshots = route(
  "GET /projects/:project_id/snapshots",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return {
      snapshots: snapshotsOf(transaction.world, project.id).map((snapshot) =>
        renderSnapshot(transaction.world, snapshot),
      ),
    };
  },
);

const updateSnapshot = route(
  "PATCH /projects/:project_id/snapshots/:snapshot_id",
  { params: snapshotParams, body: z.object({ snapshot: z.object({ name: name.optional() }) }) },
  (request) => {
    const { name: newName } = request.body.snapshot;
    if (newName !== undefined)
      request.execute({ type: "UpdateSnapshot", ...snapshotTarget(request), name: newName });
    return {
      snapshot: renderSnapshot(
        request.transaction.world,
        unwrap(findSnapshot(request.transaction.world, snapshotTarget(request))),
      ),
    };
  },
);

const deleteSnapshot = route(
  "DELETE /projects/:project_id/snapshots/:snapshot_id",
  { status: 202, params: snapshotParams },
  (request) => {
    request.execute({ type: "DeleteSnapshot", ...snapshotTarget(request) });
    return { operations: [] };
  },
);

const restoreSnapshot = route(
  "POST /projects/:project_id/snapshots/:snapshot_id/restore",
  {
    params: snapshotParams,
    query: z.object({ name: name.optional() }),
    body: z
      .object({
        name: name.optional(),
        target_branch_id: id.optional(),
        finalize_restore: z.boolean().optional(),
      })
      .optional(),
  },
  (request) => {
    const { body, query, transaction } = request;
    const events = request.execute({
      type: "RestoreSnapshot",
      ...snapshotTarget(request),
      name: body?.name ?? query.name,
      targetBranchId: body?.target_branch_id,
      finalize: body?.finalize_restore ?? false,
    });
    const created = events.find((event) => event.type === "BranchCreated");
    const branch = created && transaction.world.branches.get(created.branch.id);
    if (branch === undefined) throw new Error("RestoreSnapshot created no branch");
    const computes = computesOnBranch(transaction.world, branch.id);
    return {
      branch: renderBranch(transaction.world, branch, transaction.now),
      endpoints: computes.map((compute) =>
        renderPendingEndpoint(transaction.world, compute, transaction.now),
      ),
      operations: renderScheduledOperations(events, transaction.now),
    };
  },
);

const getSnapshotSchedule = route(
  "GET /projects/:project_id/branches/:branch_id/backup_schedule",
  { params: branchParams },
  (request) => ({
    schedule: requestedBranch(request).backupSchedule?.items ?? [],
  }),
);

const setSnapshotSchedule = route(
  "PUT /projects/:project_id/branches/:branch_id/backup_schedule",
  { params: branchParams, body: z.object({ schedule: z.array(scheduleItem).max(MAX_SCHEDULE_ITEMS) }) },
  (request) => {
    request.execute({
      type: "SetBackupSchedule",
      ...branchTarget(request),
      items: request.body.schedule,
    });
    return {};
  },
);

function snapshotTarget({ account, params }: SnapshotRequest) {
  return { accountId: account.id, projectId: params.project_id, snapshotId: params.snapshot_id };
}
