import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ServerPool } from "../../../../src/postgres/pooler/server-pool.ts";
import type { ServerSession } from "../../../../src/postgres/pooler/server-session.ts";
import type { ConnectionRejected } from "../../../../src/postgres/protocol/errors.ts";

const LIMIT = 2;
const WAIT_MS = 120_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A pool whose sessions are numbers, and the waiters that got one. */
function scene() {
  const pool = new ServerPool(LIMIT, WAIT_MS);
  const got: string[] = [];
  const failed: unknown[] = [];
  const sessions: ServerSession[] = [];
  const open = async () => {
    const session = { isOpen: true } as ServerSession;
    sessions.push(session);
    return session;
  };
  const request = (name: string, opener: () => Promise<ServerSession> = open) => {
    const waiter = {
      assign: (session: ServerSession) => void got.push(`${name}:${sessions.indexOf(session)}`),
      fail: (error: unknown) => void failed.push(error),
    };
    pool.request(waiter, opener);
    return waiter;
  };
  const release = (number: number) => pool.release(sessions[number] as ServerSession);
  return { pool, got, failed, sessions, request, release, settle: () => vi.advanceTimersByTimeAsync(0) };
}

test("sessions open while clients wait, up to the limit, and then clients wait in order", async () => {
  const { got, request, release, sessions, settle } = scene();
  for (const name of ["a", "b", "c", "d"]) request(name);
  await settle();
  expect(got).toEqual(["a:0", "b:1"]);
  expect(sessions).toHaveLength(LIMIT);
  release(1);
  release(0);
  expect(got).toEqual(["a:0", "b:1", "c:1", "d:0"]);
});

test("the session that was used last is the next one", async () => {
  const { got, request, release, settle } = scene();
  request("a");
  request("b");
  await settle();
  release(0);
  release(1);
  request("c");
  expect(got.at(-1)).toBe("c:1");
});

test("a client that waits for 120 s is rejected, and one that has left gets no session", async () => {
  const { pool, got, failed, request, release, settle } = scene();
  request("a");
  request("b");
  await settle();
  request("late");
  const left = request("left");
  pool.cancel(left);
  await vi.advanceTimersByTimeAsync(WAIT_MS - 1);
  expect(failed).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect((failed as ConnectionRejected[]).map(({ clientError }) => clientError)).toEqual([
    { severity: "FATAL", code: "08P01", message: "query_wait_timeout" },
  ]);
  release(0);
  expect(got).toEqual(["a:0", "b:1"]);
});

test("a session that has ended is replaced", async () => {
  const { pool, got, request, release, sessions, settle } = scene();
  request("a");
  await settle();
  release(0);
  Object.assign(sessions[0] as object, { isOpen: false });
  pool.closed(sessions[0] as ServerSession);
  request("b");
  await settle();
  expect(got).toEqual(["a:0", "b:1"]);
});

test("if no session can be opened, clients fail; with another session they wait for it", async () => {
  const { got, failed, request, release, settle } = scene();
  const refuse = () => Promise.reject(new Error("refused"));
  request("a", refuse);
  await settle();
  expect(failed).toEqual([new Error("refused")]);
  request("b");
  await settle();
  request("c", refuse);
  await settle();
  expect(failed).toHaveLength(1);
  release(0);
  expect(got).toEqual(["b:0", "c:0"]);
});
