import type { Database, Statement } from "better-sqlite3";
import type { SimTime } from "../kernel/time.ts";
import type { EndpointAnswer, OperationAnswer, PlanAnswer, ProjectAnswer } from "./account-answers.ts";
import { type ConsumptionRow, UNKNOWN_TYPE, type UnreadPart } from "./account-file.ts";

const PSEUDONYM = /^project-(\d{1,9})$/;

/** Writes what a pull has read. Each method is one commit. */
export class AccountWriter {
  readonly #database: Database;
  readonly #redactNames: boolean;
  /** By their text: to compile one takes longer than to insert a row. */
  readonly #statements = new Map<string, Statement>();

  constructor(database: Database, redactNames: boolean) {
    this.#database = database;
    this.#redactNames = redactNames;
  }

  /** The earliest instant that this file reads back to; undefined if all. */
  since(): { readonly since: SimTime | null } | undefined {
    return this.#statement("SELECT since FROM pulls ORDER BY number LIMIT 1").get() as
      | { since: SimTime | null }
      | undefined;
  }

  addPull(api: string, at: SimTime, since: SimTime | undefined): void {
    this.#statement("INSERT INTO pulls (api, at, since) VALUES (?, ?, ?)").run(api, at, since ?? null);
  }

  /** `isComplete`: whether these are all, so that others are deleted. */
  addProjects(projects: readonly ProjectAnswer[], at: SimTime, isComplete: boolean): void {
    const insert = this.#statement(
      `INSERT INTO projects (id, name, organization, created_at) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET name = excluded.name, deleted_at = NULL`,
    );
    let hasErased = false;
    this.#database.transaction(() => {
      const pseudonyms = this.#redactNames ? this.#pseudonyms() : undefined;
      hasErased = pseudonyms?.hasErased === true;
      for (const { id, name, org_id, created_at } of projects)
        insert.run(id, pseudonyms?.of(id) ?? name, org_id ?? null, created_at);
      if (!isComplete) return;
      const here = new Set(projects.map(({ id }) => id));
      for (const id of this.#statement("SELECT id FROM projects WHERE deleted_at IS NULL").pluck().all())
        if (!here.has(id as string)) this.markProjectDeleted(id as string, at);
    })();
    // Pages of the file that are free can still contain the names.
    if (hasErased) this.#database.exec("VACUUM");
  }

  /** Also replaces names in the file from earlier pulls, and of projects that no longer exist. */
  #pseudonyms() {
    const rows = this.#statement("SELECT id, name FROM projects ORDER BY created_at, id").all() as {
      readonly id: string;
      readonly name: string;
    }[];
    const names = new Map(rows.filter(({ name }) => PSEUDONYM.test(name)).map(({ id, name }) => [id, name]));
    let last = Math.max(0, ...[...names.values()].map((name) => Number(name.replace(PSEUDONYM, "$1"))));
    const of = (id: string): string => {
      const known = names.get(id);
      if (known !== undefined) return known;
      last += 1;
      names.set(id, `project-${last}`);
      return `project-${last}`;
    };
    const rename = this.#statement("UPDATE projects SET name = ? WHERE id = ?");
    const own = rows.filter(({ id }) => !names.has(id));
    for (const { id } of own) rename.run(of(id), id);
    return { of, hasErased: own.length > 0 };
  }

  markProjectDeleted(project: string, at: SimTime): void {
    this.#statement("UPDATE projects SET deleted_at = ? WHERE id = ?").run(at, project);
    this.#statement("UPDATE endpoints SET deleted_at = ? WHERE project = ? AND deleted_at IS NULL").run(
      at,
      project,
    );
    this.#statement("DELETE FROM unread WHERE project = ?").run(project);
  }

  /** All endpoints of a project, with the settings in force. */
  addEndpoints(project: string, endpoints: readonly EndpointAnswer[], at: SimTime): void {
    const insert = this.#statement(
      `INSERT INTO endpoints (id, project, branch, type, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET branch = excluded.branch, created_at = excluded.created_at, deleted_at = NULL`,
    );
    this.#database.transaction(() => {
      for (const endpoint of endpoints) {
        insert.run(endpoint.id, project, endpoint.branch_id, endpoint.type, endpoint.created_at);
        this.#addSettings(this.#numberOf(endpoint.id), endpoint, at);
        if (endpoint.last_active != null)
          this.#statement("INSERT OR REPLACE INTO activity VALUES (?, ?, ?)").run(
            this.#numberOf(endpoint.id),
            endpoint.last_active,
            at,
          );
      }
      const here = new Set(endpoints.map(({ id }) => id));
      const present = this.#statement("SELECT id FROM endpoints WHERE project = ? AND deleted_at IS NULL")
        .pluck()
        .all(project);
      const markDeleted = this.#statement("UPDATE endpoints SET deleted_at = ? WHERE id = ?");
      for (const id of present) if (!here.has(id as string)) markDeleted.run(at, id);
    })();
  }

  /** The parts of a project that are still unread, the newest first. Adds one for what happened since the last pull. */
  unreadParts(project: string): readonly UnreadPart[] {
    const newest = this.#statement("SELECT operation FROM newest WHERE project = ?").pluck().get(project) as
      | string
      | undefined;
    this.#statement("INSERT INTO unread (project, cursor, until_operation) VALUES (?, NULL, ?)").run(
      project,
      newest ?? null,
    );
    return this.#statement(
      "SELECT number, project, cursor, until_operation FROM unread WHERE project = ? ORDER BY number DESC",
    ).all(project) as UnreadPart[];
  }

  /** Adds a page of an unread part, and the cursor of its rest; undefined if the part is complete. */
  addPage(part: UnreadPart, operations: readonly OperationAnswer[], rest: string | undefined): void {
    this.#database.transaction(() => {
      this.addOperations(part.project, operations);
      const [first] = operations;
      if (part.cursor === null && first !== undefined)
        this.#statement("INSERT OR REPLACE INTO newest (project, operation) VALUES (?, ?)").run(
          part.project,
          first.id,
        );
      if (rest === undefined) this.#statement("DELETE FROM unread WHERE number = ?").run(part.number);
      else this.#statement("UPDATE unread SET cursor = ? WHERE number = ?").run(rest, part.number);
    })();
  }

  /** Operations of computes. Operations of branches and projects are in a separate table. */
  addOperations(project: string, operations: readonly OperationAnswer[]): void {
    const insert = this.#statement("INSERT OR REPLACE INTO operations VALUES (?, ?, ?, ?, ?, ?, ?)");
    const insertOther = this.#statement(
      "INSERT OR REPLACE INTO other_operations VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    for (const {
      id,
      endpoint_id,
      branch_id,
      action,
      status,
      failures_count,
      created_at,
      total_duration_ms,
    } of operations) {
      const values = [created_at, id, action, status, total_duration_ms, failures_count];
      if (typeof endpoint_id === "string")
        insert.run(this.#numberOfDeleted(endpoint_id, project, branch_id, created_at), ...values);
      else insertOther.run(project, branch_id ?? null, ...values);
    }
  }

  /** Operations that were not finished when they were read. */
  unfinishedOperations(project: string): readonly string[] {
    return this.#statement(
      `SELECT operations.id FROM operations JOIN endpoints ON endpoints.number = operations.endpoint
         WHERE project = ? AND status IN ('scheduling', 'running', 'cancelling')
         UNION SELECT id FROM other_operations
         WHERE project = ? AND status IN ('scheduling', 'running', 'cancelling')`,
    )
      .pluck()
      .all(project, project) as string[];
  }

  /** Writes the limits of the plan: one row for consecutive pulls that read the same limits. */
  addPlan({ plan, projects_limit, branches_limit, max_autoscaling_limit }: PlanAnswer, at: SimTime): void {
    const values = [plan, projects_limit, branches_limit, max_autoscaling_limit];
    const same = this.#statement(
      `UPDATE plans SET last_seen_at = ? WHERE plan = ? AND projects_limit = ? AND branches_limit = ? AND max_cu = ?
         AND rowid = (SELECT max(rowid) FROM plans)`,
    ).run(at, ...values);
    if (same.changes > 0) return;
    this.#statement("INSERT INTO plans VALUES (?, ?, ?, ?, ?, ?)").run(...values, at, at);
  }

  addConsumption(rows: readonly ConsumptionRow[]): void {
    const insert = this.#statement("INSERT OR REPLACE INTO consumption VALUES (?, ?, ?, ?, ?, ?)");
    this.#database.transaction(() => {
      for (const { project, granularity, start_at, end_at, active_s, compute_s } of rows)
        insert.run(project, granularity, start_at, end_at, active_s, compute_s);
    })();
  }

  #addSettings(endpoint: number, settings: EndpointAnswer, at: SimTime): void {
    const {
      suspend_timeout_seconds: delay,
      autoscaling_limit_min_cu: min,
      autoscaling_limit_max_cu: max,
      disabled,
    } = settings;
    const same = this.#statement(
      `UPDATE settings SET last_seen_at = max(last_seen_at, ?) WHERE endpoint = ? AND suspend_timeout_seconds = ? AND min_cu = ?
         AND max_cu = ? AND disabled = ?
         AND first_seen_at = (SELECT max(first_seen_at) FROM settings WHERE endpoint = ?)`,
    ).run(at, endpoint, delay, min, max, disabled === true ? 1 : 0, endpoint);
    if (same.changes > 0) return;
    const last = this.#statement("SELECT max(last_seen_at) FROM settings WHERE endpoint = ?")
      .pluck()
      .get(endpoint) as number | null;
    // Two pulls in the same second may have seen different settings.
    const from = Math.max(at, (last ?? 0) + 1);
    this.#statement("INSERT INTO settings VALUES (?, ?, ?, ?, ?, ?, ?)").run(
      endpoint,
      from,
      from,
      delay,
      min,
      max,
      disabled === true ? 1 : 0,
    );
  }

  #numberOf(id: string): number {
    return this.#statement("SELECT number FROM endpoints WHERE id = ?").pluck().get(id) as number;
  }

  /** A compute that only operations name was deleted before the first pull. */
  #numberOfDeleted(id: string, project: string, branch: string | null | undefined, at: SimTime): number {
    const known = this.#statement("SELECT number FROM endpoints WHERE id = ?").pluck().get(id);
    if (known !== undefined) return known as number;
    this.#statement(
      `INSERT INTO endpoints (id, project, branch, type, created_at, deleted_at) VALUES (?, ?, ?, '${UNKNOWN_TYPE}', ?, ?)`,
    ).run(id, project, branch ?? "", at, at);
    return this.#numberOf(id);
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
