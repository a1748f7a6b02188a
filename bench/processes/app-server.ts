import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createHttpServer } from "../../src/app/http-server.ts";
import { memoryStorage, openWorlds } from "../../src/app/open-worlds.ts";
import { createServedApp } from "../../src/app/served-app.ts";
import { MemoryJournal } from "../../src/simulation/memory-journal.ts";
import { DataDirectory } from "../../src/worlds/data-directory.ts";
import "./process-metrics.ts";
import { report } from "./report.ts";

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
const app = createServedApp({
  ...{ worlds, version: "bench", rateLimit: false, hosts: [], controlToken: undefined },
  fetchesAll: false,
  onBug: report,
});
const server = createHttpServer(app.fetch, () => app.repeated);
if (serial) handleOneAtATime();
server.listen(0, "127.0.0.1", () =>
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`),
);

function handleOneAtATime(): void {
  const [handle] = server.listeners("request") as [
    (incoming: IncomingMessage, outgoing: ServerResponse) => void,
  ];
  let previous: Promise<unknown> = Promise.resolve();
  server.removeAllListeners("request").on("request", (incoming, outgoing) => {
    previous = previous.then(() => {
      const closed = once(outgoing, "close");
      handle(incoming, outgoing);
      return closed;
    });
  });
}
