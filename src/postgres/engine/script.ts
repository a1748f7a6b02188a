import pg from "pg";
import { ScriptError } from "./engine.ts";
import { localSession, type SessionTarget } from "./session-settings.ts";

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
