import { SECOND, type SimTime } from "../core/time.ts";
import type { Project } from "../project/project.ts";
import { accept, type Result, refuse } from "../refusals.ts";
import type { Branch } from "./branch.ts";

/** A point of a branch's history as clients name it: by the clock or by its log. Neither means the head. */
export type PointInTime = {
  /** How the fields that name it begin: `parent_`, `source_`, `base_`, or not at all. */
  readonly prefix: string;
  readonly timestamp?: SimTime | undefined;
  readonly lsn?: string | undefined;
};

/** The instant that is meant. S: it must lie within the history that the project keeps, of a branch that was there. */
export function resolvePointInTime(
  branch: Branch,
  project: Project,
  { prefix, timestamp, lsn }: PointInTime,
  now: SimTime,
): Result<SimTime> {
  const at =
    timestamp === undefined
      ? lsn === undefined
        ? now
        : instantOfLsn(project, lsn)
      : clampToCreation(branch, timestamp);
  const oldest = Math.max(branch.createdAt, now - project.historyRetentionSeconds * SECOND);
  if (at >= oldest && at <= now) return accept(at);
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

/** S: timestamps are told in whole seconds. One that is given back may lie before the creation of which it was told, in its second. */
function clampToCreation({ createdAt }: Branch, timestamp: SimTime): SimTime {
  const isSameSecond = Math.floor(timestamp / SECOND) === Math.floor(createdAt / SECOND);
  return isSameSecond ? Math.max(timestamp, createdAt) : timestamp;
}

/**
 * A: nothing is written here, so the log of a project grows by its clock, and all its branches share it: it begins at the project's
 * creation and grows by 8 bytes (the alignment of Postgres' records) in a millisecond. Every instant has a place in it.
 */
export function lsnAt(project: Pick<Project, "createdAt">, at: SimTime): string {
  const position = LOG_START + (at - project.createdAt) * LOG_BYTES_PER_MS;
  return `${Math.floor(position / SEGMENT).toString(16)}/${(position % SEGMENT).toString(16)}`.toUpperCase();
}

/** The newest instant that a place in the log holds all of. */
function instantOfLsn(project: Project, lsn: string): SimTime {
  const [high = 0, low = 0] = lsn.split("/").map((half) => Number.parseInt(half, 16));
  return project.createdAt + Math.floor((high * SEGMENT + low - LOG_START) / LOG_BYTES_PER_MS);
}

const LOG_START = 0x1e88838;
const LOG_BYTES_PER_MS = 8;
const SEGMENT = 2 ** 32;
