import pg from "pg";
import { type AdminQuery, type Row, ScriptError } from "../engine/engine.ts";
import { localSession, type SessionTarget } from "./session-settings.ts";

/** Names are those of `pg_catalog`, whatever a client has set for the database. */
const READER_OPTIONS = "-c client_encoding=UTF8 -c search_path=pg_catalog,pg_temp";

/** Runs statements with the rights of a role, as one query, which is one transaction unless they say otherwise. */
export async function runScript(target: SessionTarget, sql: string): Promise<void> {
  const client = new pg.Client(localSession(target));
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } catch (error) {
    if (error instanceof pg.DatabaseError) throw new ScriptError(error.message, lineOf(sql, error.position));
    throw error;
  } finally {
    await client.end();
  }
}

/** `position`: that of a character, from 1. */
function lineOf(sql: string, position: string | undefined): number | undefined {
  return position === undefined ? undefined : sql.slice(0, Number(position)).split("\n").length;
}

/** Opens a session of a role for the duration of `work`. Statements that read tables may call functions of their owners. */
export async function asRole<T>(target: SessionTarget, work: (query: AdminQuery) => Promise<T>): Promise<T> {
  const client = new pg.Client(localSession(target, READER_OPTIONS));
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await work(async (sql) => (await client.query<Row>(sql)).rows);
  } finally {
    await client.end();
  }
}
