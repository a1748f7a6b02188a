import pg from "pg";
import {
  type Absence,
  ADMIN_DATABASE,
  type AdminQuery,
  type Row,
  StatementRejected,
  SUPERUSER,
} from "../engine/engine.ts";
import { DatabaseAbsences } from "./database-absence.ts";
import { adminOptions, localSession } from "./session-settings.ts";

/** Returns all values as text, so that no number loses digits. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/** Settings that came from `ALTER DATABASE` or `ALTER ROLE` return to what Postgres was built with. */
const RESET_SETTINGS = `SELECT set_config(name, boot_val, false) FROM pg_settings
  WHERE source IN ('database', 'user', 'database user') AND boot_val IS NOT NULL`;

/**
 * The superuser's sessions of a cluster. Nothing else opens any: each has the safe settings. They are replication
 * sessions, which do not count towards `max_connections` and accept simple queries only.
 */
export class AdminSessions {
  readonly #host: string;
  readonly #port: number;
  readonly #version: number;
  #client: Promise<pg.Client> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #absences = new DatabaseAbsences();

  /** `version`: the major version of the cluster. */
  constructor(socketDirectory: string, port: number, version: number) {
    this.#host = socketDirectory;
    this.#port = port;
    this.#version = version;
  }

  /** Runs statements in the platform's own database, after those of earlier calls. */
  query(sql: string): Promise<readonly Row[]> {
    return this.#inOrder(async () => rowsOf(await this.#session(), sql));
  }

  /** Whether `inDatabase` waits now. */
  get areBarred(): boolean {
    return this.#absences.isBarred;
  }

  /** No session of a database that clients write to is open, or is opened, until the end of the absence. */
  keepOut(): Absence {
    return this.#absences.begin();
  }

  /** Opens a session of a database that clients write to, for the duration of `work`. */
  async inDatabase<T>(database: string, work: (query: AdminQuery) => Promise<T>): Promise<T> {
    for (;;) {
      await this.#absences.over();
      const done = await this.#inOrder(async () => {
        // An absence may have begun while earlier calls ran.
        if (this.areBarred) return undefined;
        return { result: await this.#absences.visit(() => this.#visit(database, work)) };
      });
      if (done !== undefined) return done.result;
    }
  }

  async #visit<T>(database: string, work: (query: AdminQuery) => Promise<T>): Promise<T> {
    const client = await this.#connect(database);
    try {
      await rowsOf(client, RESET_SETTINGS);
      return await work((sql) => rowsOf(client, sql));
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** Ends the session of the platform's own database. Then calls `work`, and opens it again for the next query. */
  whileClosed(work: () => Promise<void>): Promise<void> {
    return this.#inOrder(async () => {
      await this.close();
      await work();
    });
  }

  async close(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    await client?.then((open) => open.end()).catch(() => undefined);
  }

  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  #session(): Promise<pg.Client> {
    if (this.#client === undefined) {
      const client = this.#connect(ADMIN_DATABASE);
      const forget = () => {
        if (this.#client === client) this.#client = undefined;
      };
      this.#client = client;
      // A session that ends by itself is opened again by the next query.
      client.then((open) => open.on("error", forget).on("end", forget), forget);
    }
    return this.#client;
  }

  async #connect(database: string): Promise<pg.Client> {
    const target = { host: this.#host, port: this.#port, user: SUPERUSER, database };
    const config = localSession(target, adminOptions(this.#version));
    const client = new pg.Client({ ...config, replication: "database" } as pg.ClientConfig);
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }
}

async function rowsOf(client: pg.Client, sql: string): Promise<readonly Row[]> {
  const answer = await client.query<Row>({ text: sql, types: AS_TEXT as never }).catch((error: unknown) => {
    // The other fields of an error may quote the statement, and that the verifier of a password.
    throw error instanceof pg.DatabaseError ? new StatementRejected(error.message, error.code ?? "") : error;
  });
  // Several statements in one text give an array of results.
  const last = Array.isArray(answer) ? answer.at(-1) : answer;
  return (last?.rows ?? []) as readonly Row[];
}
