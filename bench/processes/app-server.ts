import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { createApp } from "../../src/app/create-app.ts";
import { memoryStorage, openWorlds } from "../../src/app/open-worlds.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import "./process-metrics.ts";

/** The server as `standin serve` composes it, with a choice of journals. */
export type AppServerOptions = {
  readonly journal:
    | { readonly kind: "sqlite"; readonly data: string; readonly migrations: string }
    | { readonly kind: "none" };
  /** Handles one request at a time, so that each has a commit of its own. */
  readonly serial: boolean;
  readonly apiKey: string;
};

/** Stores no events and no rows. */
class NoJournal extends MemoryJournal {
  override readonly tables = [];
  override write(): void {}
}

const { journal, serial, apiKey } = JSON.parse(process.argv[2] ?? "") as AppServerOptions;
const storage =
  journal.kind === "none"
    ? memoryStorage(() => new NoJournal())
    : new DataDirectory(journal.data, journal.migrations);
const { worlds } = await openWorlds(storage, { apiKey, operations: "immediate" }, report);
const app = createApp({
  worlds,
  version: "bench",
  rateLimit: false,
  readsFirst: true,
  hosts: [],
  controlToken: undefined,
  onBug: report,
});
const server = createAdaptorServer({ fetch: serial ? serialized(app.fetch) : app.fetch });
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

function serialized(fetch: Fetch): Fetch {
  let previous: Promise<unknown> = Promise.resolve();
  return (request, env) => {
    const response = previous.then(() => fetch(request, env));
    previous = response.catch(() => undefined);
    return response;
  };
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}
