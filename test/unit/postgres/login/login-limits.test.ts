import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { MAX } from "../../../../src/input-limits/limits.ts";
import { LoginLimit } from "../../../../src/postgres/login/login-limit.ts";
import { startupMessage } from "../../../../src/postgres/protocol/messages.ts";
import { answerOf, openFuzzedGateway } from "../../../support/postgres/fuzzed-gateway.ts";

const GSSENC_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 48]);

test("beyond the limit, the oldest connection that has not logged in is ended", () => {
  const ended: string[] = [];
  const limit = new LoginLimit(2);
  const enter = (name: string) => limit.enter(() => ended.push(name));
  const leaveFirst = enter("first");
  enter("second");
  leaveFirst();
  enter("third");
  expect(ended).toEqual([]);
  enter("fourth");
  enter("fifth");
  expect(ended).toEqual(["second", "third"]);
});

test("of 1,001 connections that send nothing, the oldest closes with 53300", async () => {
  const { gateway, connect, close } = await openFuzzedGateway();
  onTestFinished(close);
  const first = connect();
  const answer = answerOf(first);
  await once(first, "connect");
  while (gateway.figures().connections < 1) await new Promise(setImmediate);
  const others = Array.from({ length: MAX.postgresConnectionsBeforeLogin - 1 }, connect);
  while (gateway.figures().connections < MAX.postgresConnectionsBeforeLogin) await new Promise(setImmediate);
  expect(gateway.figures().errors.size).toBe(0);
  const last = connect();
  expect((await answer).toString()).toContain("C53300\0Mtoo many connections have not logged in");
  expect([...gateway.figures().errors]).toEqual([["53300", 1]]);
  for (const socket of [...others, last]) socket.destroy();
});

test("a connection that ended with an error is destroyed if its client does not close it", async () => {
  const { gateway, connect, close } = await openFuzzedGateway();
  onTestFinished(close);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = connect();
  socket.allowHalfOpen = true;
  const received: Buffer[] = [];
  socket.on("data", (chunk) => received.push(chunk));
  let isClosed = false;
  socket.once("close", () => {
    isClosed = true;
  });
  socket.write(Buffer.from([0, 0, 0, 1]));
  await once(socket, "end");
  expect(Buffer.concat(received).toString()).toContain("invalid length of startup packet");
  await vi.advanceTimersByTimeAsync(MAX.endedConnectionMs - 1);
  expect(gateway.figures().connections).toBe(1);
  expect(isClosed).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  // The server has destroyed its side: what is written now is refused.
  while (!isClosed) {
    socket.write("x");
    await new Promise(setImmediate);
  }
});

test("at most 3 requests for encryption come before the startup packet", async () => {
  const { connect, close } = await openFuzzedGateway();
  onTestFinished(close);
  const send = async (requests: number) => {
    const socket = connect();
    const answer = answerOf(socket);
    const startup = startupMessage(new Map([["user", "nobody"]]));
    socket.write(Buffer.concat([...Array.from({ length: requests }, () => GSSENC_REQUEST), startup]));
    return (await answer).toString();
  };
  expect(await send(3)).toContain("NNNE");
  expect(await send(3)).toContain("Endpoint ID is not specified");
  expect(await send(4)).toContain("NNNNE");
  expect(await send(4)).toContain("expected a startup packet");
});
