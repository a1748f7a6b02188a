import { once } from "node:events";
import { expect, onTestFinished, test, vi } from "vitest";
import { answerOf, openFuzzedGateway } from "../../../support/postgres/fuzzed-gateway.ts";

test("a client that does not log in within 60 seconds is disconnected with 08P01", async () => {
  const { gateway, connect, close } = await openFuzzedGateway();
  onTestFinished(close);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const socket = connect();
  let hasEnded = false;
  const answer = answerOf(socket).finally(() => {
    hasEnded = true;
  });
  await once(socket, "connect");
  // The beginning of a packet that never ends.
  socket.write(Buffer.from([0, 0, 0, 20]));
  while (gateway.figures().connections === 0) await new Promise(setImmediate);
  await vi.advanceTimersByTimeAsync(59_999);
  expect({ hasEnded, errors: gateway.figures().errors.size }).toEqual({ hasEnded: false, errors: 0 });
  await vi.advanceTimersByTimeAsync(1);
  expect((await answer).toString()).toContain("C08P01\0Mcanceling authentication due to timeout");
  expect([...gateway.figures().errors]).toEqual([["08P01", 1]]);
});
