import type { Duplex } from "node:stream";
import type { RelayListener } from "./relay.ts";

/** Counterpart of an admitted client: a session of an engine, or the pooler's sessions. */
export type EngineConnection = {
  /** Answers the login of the client, and serves it. `close` ends the client, too. */
  serve(client: Duplex, listener: RelayListener): { close(): void };
  /** After the client has left. */
  release(): void;
};
