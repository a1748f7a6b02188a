import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { createApp } from "../../src/app/create-app.ts";
import { memoryStorage, openWorlds } from "../../src/app/open-worlds.ts";
import { MemoryJournal } from "../../src/simulation/journal.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import "./probe.ts";

/** The double as `standin serve` composes it, but for its journal. */
export type DoubleServerOptions = {
  readonly journal:
    | { readonly kind: "sqlite"; readonly data: string; readonly migrations: string }
    | { readonly kind: "none" };
  /** Each request begins after the one before it has been answered, so that each commits alone. */
  readonly oneByOne: boolean;
  readonly apiKey: string;
};

/** Wants nothing, keeps nothing. */
class NoJournal extends MemoryJournal {
  override readonly tables = [];
  override write(): void {}
}

const { journal, oneByOne, apiKey } = JSON.parse(process.argv[2] ?? "") as DoubleServerOptions;
const storage =
  journal.kind === "none"
    ? memoryStorage(() => new NoJournal())
    : new DataDirectory(journal.data, journal.migrations);
const { worlds } = await openWorlds(storage, { apiKey, operations: "immediate" }, report);
const app = createApp({
  worlds,
  version: "bench",
  rateLimit: false,
  hosts: [],
  controlToken: undefined,
  onBug: report,
});
const server = createAdaptorServer({ fetch: oneByOne ? oneAtATime(app.fetch) : app.fetch });
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);

type Fetch = (request: Request, env: unknown) => Response | Promise<Response>;

function oneAtATime(fetch: Fetch): Fetch {
  let last: Promise<unknown> = Promise.resolve();
  return (request, env) => {
    const response = last.then(() => fetch(request, env));
    last = response.catch(() => undefined);
    return response;
  };
}

function report(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
}
