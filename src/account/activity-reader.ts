import type { Database } from "better-sqlite3";
import type { SimTime } from "../kernel/time.ts";
import { hasTable } from "./account-reader.ts";

/** When a compute was last active, as a pull saw it. */
export type ActivityReading = {
  readonly endpoint: string;
  readonly project: string;
  readonly last_active_at: SimTime;
  /** The time of the server at the pull. */
  readonly seen_at: SimTime;
};

/** By compute, oldest first. */
export function readActivity(database: Database): readonly ActivityReading[] {
  if (!hasTable(database, "activity")) return [];
  return database
    .prepare(
      `SELECT e.id AS endpoint, e.project, a.last_active_at, a.seen_at
       FROM activity a JOIN endpoints e ON e.number = a.endpoint
       ORDER BY a.endpoint, a.last_active_at`,
    )
    .all() as ActivityReading[];
}

/** A setting of the delay, and when pulls have read it. */
export type DelayReading = {
  readonly endpoint: string;
  readonly first_seen_at: SimTime;
  readonly last_seen_at: SimTime;
  readonly suspend_timeout_seconds: number;
};

/** By compute, oldest first. */
export function readDelaySettings(database: Database): readonly DelayReading[] {
  return database
    .prepare(
      `SELECT e.id AS endpoint, s.first_seen_at, s.last_seen_at, s.suspend_timeout_seconds
       FROM settings s JOIN endpoints e ON e.number = s.endpoint ORDER BY s.endpoint, s.first_seen_at`,
    )
    .all() as DelayReading[];
}
