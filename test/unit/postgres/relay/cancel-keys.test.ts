import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { CancelKeys } from "../../../../src/postgres/relay/cancel-keys.ts";
import { testDirectory } from "../../../support/server/running-server.ts";

/** An engine that receives requests to cancel queries. */
async function engine() {
  const path = join(testDirectory(), "socket");
  const received: Buffer[] = [];
  const server = createServer(async (socket) => {
    received.push(await buffer(socket));
    socket.end();
  }).listen(path);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { address: { path }, received };
}

/** The body of a BackendKeyData message. */
function keyOf(pid: number, secret: number): Buffer {
  const body = Buffer.alloc(8);
  body.writeInt32BE(pid, 0);
  body.writeInt32BE(secret, 4);
  return body;
}

/** Changes the last bit of a secret. */
function almost(secret: string): string {
  return secret.slice(0, -1) + (Number.parseInt(secret.slice(-1), 16) ^ 1).toString(16);
}

test("only the secret of a session cancels its query, and the engine gets its own key", async () => {
  const { address, received } = await engine();
  const keys = new CancelKeys();
  const client = keys.register(address, keyOf(42, 7));
  const other = keys.register(address, keyOf(43, 8));
  const [secret, secretOfOther] = [client, other].map(({ body }) => body.toString("hex", 4)) as [
    string,
    string,
  ];
  const wrong = ["", "0", "00000007", almost(secret), `${secret}00`, secret.slice(0, -2), secretOfOther];
  for (const attempt of wrong) await keys.cancel(client.pid, attempt);
  await keys.cancel(other.pid, secret);
  await keys.cancel(42, secret);
  expect(received).toEqual([]);
  await keys.cancel(client.pid, secret);
  expect(received.map((packet) => packet.toString("hex", 8))).toEqual([keyOf(42, 7).toString("hex")]);
});

test("the key of a session that has ended cancels nothing", async () => {
  const { address, received } = await engine();
  const keys = new CancelKeys();
  const { pid, body } = keys.register(address, keyOf(42, 7));
  keys.forget(pid);
  await keys.cancel(pid, body.toString("hex", 4));
  expect(received).toEqual([]);
});

test("a client of the pooler cancels the session that works for it now, if there is one", async () => {
  const { address, received } = await engine();
  const keys = new CancelKeys();
  const session = keys.register(address, keyOf(42, 7));
  let current: number | undefined;
  const { pid, body } = keys.registerPooled(() => current);
  const secret = body.toString("hex", 4);
  await keys.cancel(pid, secret);
  current = session.pid;
  await keys.cancel(pid, almost(secret));
  expect(received).toEqual([]);
  await keys.cancel(pid, secret);
  expect(received).toHaveLength(1);
});

const QUERY = Buffer.from("Q");

/** Work that its client has sent and the server still holds back. */
function heldWork() {
  let release: (mayProceed: boolean) => void = () => undefined;
  const work = new Promise<boolean>((resolve) => {
    release = resolve;
  });
  return { work, release: () => release(true) };
}

test("a cancel request waits for work that is not yet with the engine, which would ignore the signal", async () => {
  const { address, received } = await engine();
  const keys = new CancelKeys();
  const { pid, body } = keys.register(address, keyOf(42, 7));
  const { work, release } = heldWork();
  const beforeWork = keys.holdingCancels(pid, () => work);
  expect(beforeWork(QUERY)).toBe(work);
  let isWithEngine = false;
  work.then(() => {
    expect(received).toEqual([]);
    isWithEngine = true;
  });
  const cancelled = keys.cancel(pid, body.toString("hex", 4)).then(() => expect(isWithEngine).toBe(true));
  // Cancels of other sessions arrive in the meantime.
  const other = keys.register(address, keyOf(43, 8));
  await keys.cancel(other.pid, other.body.toString("hex", 4));
  expect(received.map((packet) => packet.readInt32BE(8))).toEqual([43]);
  received.length = 0;
  release();
  await cancelled;
  expect(received.map((packet) => packet.readInt32BE(8))).toEqual([42]);
});

test("a cancel request waits for held work of a client of the pooler, and finds its session then", async () => {
  const { address, received } = await engine();
  const keys = new CancelKeys();
  const session = keys.register(address, keyOf(42, 7));
  let current: number | undefined;
  const { pid, body } = keys.registerPooled(() => current);
  const { work, release } = heldWork();
  const beforeWork = keys.holdingCancels(pid, () => work);
  void beforeWork(QUERY);
  void work.then(() => {
    current = session.pid;
  });
  const cancelled = keys.cancel(pid, body.toString("hex", 4));
  release();
  await cancelled;
  expect(received).toHaveLength(1);
});

test("work that fails, or that waits for nothing, holds no cancel request back", async () => {
  const { address, received } = await engine();
  const keys = new CancelKeys();
  const { pid, body } = keys.register(address, keyOf(42, 7));
  const secret = body.toString("hex", 4);
  const failed = Promise.reject(new Error("the store is not available"));
  keys.holdingCancels(pid, () => failed)(QUERY);
  await expect(failed).rejects.toThrow("the store");
  await keys.cancel(pid, secret);
  expect(keys.holdingCancels(pid, () => true)(QUERY)).toBe(true);
  await keys.cancel(pid, secret);
  expect(received).toHaveLength(2);
});
