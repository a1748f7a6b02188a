import { SECOND, type SimTime } from "../../../kernel/time.ts";
import { accept, type Result, refuse } from "../../catalog/refusal-codes.ts";
import type { Branch } from "../../model/branch.ts";
import type { Project } from "../../model/project.ts";
import type { World } from "../../world/world.ts";
import { checkDataAvailable } from "../branch-data/available-data.ts";

/** A point in a branch's history, given as a timestamp or as an LSN; without either, the head. */
export type PointInTime = {
  /** For messages: the prefix of the request fields, `parent_`, `source_`, `base_` or empty. */
  readonly prefix: string;
  readonly timestamp?: SimTime | undefined;
  readonly lsn?: string | undefined;
  /** When Postgres had written its log up to the LSN; absent if it has not. */
  readonly writtenAt?: SimTime | undefined;
};

/**
 * The instant of the point. S: it must be within the project's history retention, after the branch was
 * created.
 */
export function resolvePointInTime(
  branch: Branch,
  project: Project,
  { prefix, timestamp, lsn, writtenAt }: PointInTime,
  now: SimTime,
): Result<SimTime> {
  const at =
    timestamp === undefined
      ? lsn === undefined
        ? now
        : instantOfLsn(project, lsn)
      : clampToCreation(branch, timestamp);
  const oldest = Math.max(branch.createdAt, now - project.historyRetentionSeconds * SECOND);
  const isIn = (instant: SimTime) => instant >= oldest && instant <= now;
  if (writtenAt !== undefined && isIn(writtenAt)) {
    if (!isIn(at) || at === writtenAt) return accept(writtenAt);
    return refuse(
      "PARENT_LSN_NOT_ALLOWED",
      `${prefix}lsn "${lsn}" means two instants: the API reports it for one, and Postgres has written it at another; use ${prefix}timestamp`,
    );
  }
  if (isIn(at)) return accept(at);
  const requirement = `must lie between the creation of the branch and now, and within the project's history_retention_seconds (${project.historyRetentionSeconds})`;
  return timestamp === undefined
    ? refuse(
        "PARENT_LSN_NOT_ALLOWED",
        `${prefix}lsn ${requirement}, from ${lsnAt(project, oldest)} to ${lsnAt(project, now)}; branch "${branch.id}" has no history there`,
      )
    : refuse(
        "PARENT_TIMESTAMP_NOT_ALLOWED",
        `${prefix}timestamp ${requirement}; branch "${branch.id}" has no history there`,
      );
}

/** Like `resolvePointInTime`, but also requires that the data of the branch at that instant is not deleted. */
export function resolvePointWithData(
  world: World,
  branch: Branch,
  project: Project,
  point: PointInTime,
  now: SimTime,
): Result<SimTime> {
  const at = resolvePointInTime(branch, project, point, now);
  if (!at.ok) return at;
  const { prefix, lsn } = point;
  const isAvailable = checkDataAvailable(world, branch.id, {
    prefix,
    isLsn: lsn !== undefined,
    at: at.value,
  });
  return isAvailable.ok ? at : isAvailable;
}

/**
 * The LSN, if it is a position in the log of Postgres. The instant of the point is then that of the first mark after
 * it.
 */
export function writtenPosition({ lsn, writtenAt }: Pick<PointInTime, "lsn" | "writtenAt">): {
  readonly lsn?: string;
} {
  return lsn === undefined || writtenAt === undefined ? {} : { lsn };
}

/** S: answers give whole seconds. A client that sends back the creation time may thus be up to 1 s early. */
function clampToCreation({ createdAt }: Branch, timestamp: SimTime): SimTime {
  const isSameSecond = Math.floor(timestamp / SECOND) === Math.floor(createdAt / SECOND);
  return isSameSecond ? Math.max(timestamp, createdAt) : timestamp;
}

/**
 * A: the LSNs that the API reports are a function of time, shared by all branches of a project. They start at the
 * project's creation and grow by 8 bytes (the alignment of Postgres' records) each millisecond. LSNs that Postgres
 * wrote arrive as `writtenAt`.
 */
export function lsnAt(project: Pick<Project, "createdAt">, at: SimTime): string {
  const position = LOG_START + (at - project.createdAt) * LOG_BYTES_PER_MS;
  return `${Math.floor(position / SEGMENT).toString(16)}/${(position % SEGMENT).toString(16)}`.toUpperCase();
}

/** The latest instant whose LSN is at most `lsn`. */
function instantOfLsn(project: Project, lsn: string): SimTime {
  const [high = 0, low = 0] = lsn.split("/").map((half) => Number.parseInt(half, 16));
  return project.createdAt + Math.floor((high * SEGMENT + low - LOG_START) / LOG_BYTES_PER_MS);
}

const LOG_START = 0x1e88838;
const LOG_BYTES_PER_MS = 8;
const SEGMENT = 2 ** 32;
