import { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { emptyWorld } from "../../../../src/platform/world/world.ts";
import { type ClientError, errorResponse } from "../../../../src/postgres/protocol/messages.ts";
import type { SqlLogin } from "../../../../src/postgres/serverless/sql-request.ts";
import { SqlSessions } from "../../../../src/postgres/serverless/sql-sessions.ts";

const READY = Buffer.from("Z\0\0\0\x05I", "latin1");
const CANCELED: ClientError = {
  severity: "ERROR",
  code: "57014",
  message: "canceling statement due to user request",
};
const LOGIN: SqlLogin = {
  route: { endpointId: "ep-1", pooled: false, world: undefined, options: undefined },
  ...{ role: "owner", database: "shop", applicationName: undefined },
};
const WORK = {
  statements: [{ text: "select 1", parameters: [], arrayMode: false }],
  ...{ rawText: false, begin: undefined },
};
const STAYS = { onAbandoned: () => () => undefined };

/** Sessions of a world and of an engine that both do only what the test says. */
function createSessions() {
  const server = {
    /** Whether the engine answers. Otherwise statements execute until they are cancelled. */
    answers: true,
    /** What the engine has received: once for each request. */
    received: [] as string[],
    isClosed: false,
    leave: async () => undefined,
    beginStatements: async () => true,
  };
  // A statement and a reset are answered by one message each.
  const answer = () => socket.push(Buffer.concat([READY, READY]));
  const socket = new Duplex({
    read: () => undefined,
    write(bytes: Buffer, _, done) {
      server.received.push(bytes.toString("latin1"));
      if (server.answers) answer();
      done();
    },
    destroy(error, done) {
      server.isClosed = true;
      done(error);
    },
  });
  const engine = { openToClients: async () => undefined, address: {} };
  const host = {
    acquire: async () => engine,
    release: () => undefined,
    mayHaveExpired: () => false,
    hasExpired: async () => false,
  };
  const compute = {
    ...{ host, catalogChanges: 0, addTransferred: () => undefined },
    endExclusion: () => undefined,
  };
  const served = {
    world: { peek: () => ({ world: emptyWorld() }) },
    admit: async () => ({ endpointId: "ep-1", connectionId: "pg-1" }),
    attach: () => compute,
    beginWork: async () => true,
    beginStatements: () => server.beginStatements(),
    endWork: () => undefined,
    leave: () => server.leave(),
  };
  const cancelKeys = {
    forget: () => undefined,
    cancelSession: async () => void socket.push(Buffer.concat([errorResponse(CANCELED), READY, READY])),
  };
  const logins = { logIn: async () => ({ socket, cancelPid: 1 }) };
  const sessions = new SqlSessions(cancelKeys as never, logins as never);
  const execute = (limits: Parameters<SqlSessions["execute"]>[3]) =>
    sessions.execute(served as never, LOGIN, WORK, limits);
  return { server, execute };
}

test("a response after a timeout does not wait for an advance that is under way", async () => {
  const { server, execute } = createSessions();
  server.answers = false;
  // The world records the end of the session after the advance, which does not end here.
  server.leave = () => new Promise(() => undefined);
  await expect(execute({ ...STAYS, timeoutMs: 1 })).rejects.toThrow("did not end within its timeout of 1 ms");
  expect(server.isClosed).toBe(true);
});

test("a statement is not executed if its client left before", async () => {
  const { server, execute } = createSessions();
  const onAbandoned = (cancel: () => void) => {
    cancel();
    return () => undefined;
  };
  await expect(execute({ onAbandoned })).rejects.toThrow("canceling statement due to user request");
  expect(server.received).toEqual([]);
});

test("a session that was kept is closed if its world fails before the next statement", async () => {
  const { server, execute } = createSessions();
  await execute(STAYS);
  await nextTurn();
  expect([server.received.length, server.isClosed]).toEqual([1, false]);
  server.beginStatements = async () => {
    throw new Error("the world cannot be written");
  };
  await expect(execute(STAYS)).rejects.toThrow("the world cannot be written");
  expect([server.received.length, server.isClosed]).toEqual([1, true]);
});
