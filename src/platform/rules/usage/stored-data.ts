import { DAY, type DurationMs, SECOND, type SimTime } from "../../../kernel/time.ts";
import type { Branch } from "../../model/branch.ts";
import { addLevels, NO_STORAGE, type StorageLevels } from "../../model/storage-use.ts";
import type { World } from "../../world/world.ts";
import { type StoredInterval, USAGE_PERIODS, usageInPeriod } from "./usage-periods.ts";

/** Log of one hour or day, and from when on it is no longer retained (exclusive). */
type RetainedLog = { readonly bytes: number; readonly until: SimTime };

/** Storage of the branches together at an instant. */
export function storedAt(world: World, branches: Iterable<Branch>, at: SimTime): StorageLevels {
  return storedNow(world, branches, at).levels;
}

/** The same, and when time alone changes it, because log expires (exclusive). */
export function storedNow(
  world: World,
  branches: Iterable<Branch>,
  now: SimTime,
): { readonly levels: StorageLevels; readonly until: SimTime } {
  let levels = NO_STORAGE;
  let until = Number.POSITIVE_INFINITY;
  for (const branch of branches) {
    if (storedUntil(world, branch) === undefined) continue;
    const log = retainedLog(world, branch, now);
    levels = addLevels(levels, levelsAt(world, branch, log, now));
    until = Math.min(until, log[0]?.until ?? until);
  }
  return { levels, until };
}

/** Storage of the branches since the last booking of each branch. */
export function unbookedStorage(world: World, branches: Iterable<Branch>, now: SimTime): StoredInterval[] {
  const intervals: StoredInterval[] = [];
  for (const branch of branches) intervals.push(...storedSinceBooking(world, branch, now));
  return intervals;
}

/** Ends where log expires, so that the levels are constant within each interval. Oldest first. */
export function storedSinceBooking(world: World, branch: Branch, now: SimTime): StoredInterval[] {
  const since = storedUntil(world, branch);
  if (since === undefined || since >= now) return [];
  const log = retainedLog(world, branch, since);
  const ends = [...log.map(({ until }) => until).filter((until) => until < now), now];
  let from = since;
  return ends.map((to) => {
    const stored = levelsAt(world, branch, log, from);
    const interval = { from, to, stored };
    from = to;
    return interval;
  });
}

/** Up to when the storage of a branch is booked; `undefined` if it stores nothing. A: deleted data is free. */
function storedUntil(world: World, { id, deletedAt, projectId }: Branch): SimTime | undefined {
  if (deletedAt !== undefined || world.projects.get(projectId)?.deletedAt !== undefined) return undefined;
  return world.usage.get(id)?.data?.storage?.until;
}

/**
 * S: a root branch stores its data, a child the smaller of its changes and its data, and only roots have billed
 * history. A: the changes are the log since its creation.
 */
function levelsAt(world: World, branch: Branch, log: readonly RetainedLog[], at: SimTime): StorageLevels {
  const { id, parentId, logicalSizeBytes: logical = 0 } = branch;
  if (parentId !== undefined) {
    const written = world.usage.get(id)?.data?.writtenBytes ?? 0;
    return { root: 0, child: Math.min(logical, written), history: 0, logical };
  }
  const history = log.reduce((sum, { bytes, until }) => (until > at ? sum + bytes : sum), 0);
  return { root: logical, child: 0, history, logical };
}

/** The longest retention for which the log is known by the hour. */
const HOURS_ARE_KNOWN: DurationMs = 7 * DAY;

/**
 * The log of a root branch that is retained at an instant, oldest first. A: log is retained until the history retention
 * after the end of its hour, or of its day if the retention is longer than 7 days.
 */
function retainedLog(world: World, { id, projectId, parentId }: Branch, at: SimTime): RetainedLog[] {
  const retention = (world.projects.get(projectId)?.historyRetentionSeconds ?? 0) * SECOND;
  if (parentId !== undefined || retention === 0) return [];
  const period = USAGE_PERIODS[retention > HOURS_ARE_KNOWN ? "daily" : "hourly"];
  const log: RetainedLog[] = [];
  for (let start = period.startOf(at - retention); start <= at; start = period.endOf(start)) {
    const bytes = usageInPeriod(world, id, period, start, []).data?.writtenBytes ?? 0;
    const until = period.endOf(start) + retention;
    if (bytes > 0 && until > at) log.push({ bytes, until });
  }
  return log;
}
