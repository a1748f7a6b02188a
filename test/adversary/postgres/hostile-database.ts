import type { Client } from "pg";
import type { Observer } from "./observer.ts";
import { EXPRESSIONS } from "./places/expressions.ts";
import type { Place } from "./places/place.ts";
import { SETTINGS, SHADOWS } from "./places/shadows.ts";
import { TRIGGERS } from "./places/triggers.ts";

/** Where hostile code is stored. Shadows are last, because they confuse the client as well. */
export const CODE_PLACES: readonly Place[] = [...TRIGGERS, ...EXPRESSIONS, ...SHADOWS, ...SETTINGS];

/** Stores hostile code in all places of a database that this version of Postgres has. Returns their names. */
export async function plant(client: Client, observer: Observer, version: number): Promise<string[]> {
  await client.query(observer.sql);
  await client.query("create schema shadow; grant usage on schema shadow to public");
  const planted: string[] = [];
  for (const { name, sql, since = 0 } of CODE_PLACES) {
    if (version < since) continue;
    try {
      await client.query(sql);
    } catch (error) {
      throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
    }
    planted.push(name);
  }
  return planted;
}
