// @ts-nocheck
import pg from "pg";
import type { Row } from "./engine.ts";
import { SUPERUSER } from "./engine.ts";
import { localSession } from "./local-session.ts";

/** Returns all values as text, so that no number loses digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * Superuser sessions of a cluster, one per database, opened on first use. They are replication sessions, which
 * do not count towards `max_connections` and accept simple queries only.
 */
export class AdminSessions {
  readonly #host: string;
  readonly #port: number;
  readonly #clients = new Map<string, Promise<pg.Client>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(socketDirectory: string, port: number) {
    this.#host = socketDirectory;
    this.#port = port;
  }

  query(sql: string, database: string): Promise<readonly Row[]> {
    const result = this.#last.then(async () => {
      const client = await this.#client(database);
      const answer = await client.query<Row>({ text: sql, types: AS_TEXT as never });
      // Several statements in one text give an array of results.
      const last = Array.isArray(answer) ? answer.at(-1) : answer;
      return (last?.rows ?? []) as readonly Row[];
    });
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Closes one session, for example because its database is dropped. */
  async disconnect(database: string): Promise<void> {
    const client = this.#clients.get(database);
    this.#clients.delete(database);
    await client?.then((open) => open.end()).catch(() => undefined);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((database) => this.disconnect(database)));
  }

  #client(database: string): Promise<pg.Client> {
    let client = this.#clients.get(database);
    if (client === undefined) {
      client = this.#connect(database);
      this.#clients.set(database, client);
      client.catch(() => this.#clients.delete(database));
    }
    return client;
  }

  async #connect(database: string): Promise<pg.Client> {
    const target = { host: this.#host, port: this.#port, user: SUPERUSER, database };
    const client = new pg.Client({ ...localSession(target), replication: "database" } as pg.ClientConfig);
    // A session that ends by itself is opened again by the next query.
    client.on("error", () => this.#clients.delete(database));
    client.on("end", () => this.#clients.delete(database));
    await client.connect();
    return client;
  }
}
