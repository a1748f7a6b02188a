import { expect, onTestFinished, test } from "vitest";
import { LIMITS } from "../../../src/input-limits/limits.ts";
import { countedBody, repeated } from "../../support/double/counted-body.ts";
import { openFuzzedGateway } from "../../support/postgres/fuzzed-gateway.ts";

const MIB = 1024 ** 2;
/** There is no Postgres in these tests, so a request that was read and parsed ends here. */
const REACHED_POSTGRES = "there is no Postgres in this test";

async function openSql() {
  const { app, close, connectionString } = await openFuzzedGateway();
  onTestFinished(close);
  const post = async (body: string | ReadableStream, login: string | undefined = connectionString) => {
    const request = new Request("http://localhost/sql", {
      method: "POST",
      headers: { "Neon-Connection-String": login },
      body,
      ...{ duplex: "half" },
    });
    const response = await app.fetch(request);
    return { status: response.status, message: ((await response.json()) as { message: string }).message };
  };
  return { post, connectionString };
}

test.each([
  [
    "a wrong password",
    (login: string) => login.replace(/:[^:@/]+@/, ":wrong@"),
    "password authentication failed",
  ],
  ["an unknown compute", (login: string) => login.replace(/@ep-/, "@ep-no"), "could not be found"],
  ["no URL", () => "nonsense", "is not a URL"],
])("with %s, nothing of the body is read", async (_, change, message) => {
  const { post, connectionString } = await openSql();
  const { stream, counted } = countedBody(
    repeated('{"query":"select 1","params":[', "[],".repeat(20_000), 1_000, "[]]}"),
  );
  const answer = await post(stream, change(connectionString));
  expect(answer).toEqual({ status: 400, message: expect.stringContaining(message) });
  expect(counted.reads).toBe(0);
});

test("a body with more than 500,000 values is 413, and is read no further", async () => {
  const { post } = await openSql();
  const chunk = "[],".repeat(20_000);
  const { stream, counted } = countedBody(repeated('{"query":"select 1","params":[', chunk, 1_000, "[]]}"));
  expect(await post(stream)).toEqual({
    status: 413,
    message: "request is too large (max is 500000 values); divide it into several requests",
  });
  // Each list has two values: itself, and the place for its first one.
  expect(counted.reads).toBeLessThanOrEqual(1 + LIMITS.sqlValues.value / 40_000 + 1);
});

test("a body with 500,000 values is parsed", async () => {
  const { post } = await openSql();
  // The object, its fields `query` and `params`, and the list with its values.
  const numbers = LIMITS.sqlValues.value - 4;
  const bodyOf = (count: number) => `{"query":"select 1","params":[[${"1,".repeat(count - 1)}1]]}`;
  expect((await post(bodyOf(numbers))).message).toContain(REACHED_POSTGRES);
  expect((await post(bodyOf(numbers + 1))).status).toBe(413);
});

test("a body that is nested 65 levels deep is 400, however its bytes are divided", async () => {
  const { post } = await openSql();
  const bodyOf = (levels: number) =>
    `{"query":"select 1","params":[${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}]}`;
  const { stream } = countedBody(bodyOf(65));
  expect(await post(stream)).toEqual({
    status: 400,
    message: "request body: must not be nested more than 64 levels deep",
  });
  expect((await post(countedBody(bodyOf(64)).stream)).message).toContain(REACHED_POSTGRES);
});

test("a body of 64 MiB is accepted, and one byte more is 413", async () => {
  const { post } = await openSql();
  const [begin, end] = ['{"query":"', '"}'];
  const bodyOf = (bytes: number) => {
    const rest = bytes - begin.length - end.length;
    return repeated(begin, "x".repeat(MIB), Math.floor(rest / MIB), "x".repeat(rest % MIB) + end);
  };
  expect((await post(countedBody(bodyOf(64 * MIB)).stream)).message).toContain(REACHED_POSTGRES);
  expect(await post(countedBody(bodyOf(64 * MIB + 1)).stream)).toEqual({
    status: 413,
    message: "request is too large (max is 67108864 bytes)",
  });
});

test("4 large bodies are read at the same time, 64 wait unread, and the next one is 503", async () => {
  const { post } = await openSql();
  let finish: () => void = () => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const bodies = Array.from({ length: 4 + 64 }, () => {
    const counted = { reads: 0 };
    const begin = Buffer.from(`{"query":"${"x".repeat(MIB)}`);
    const stream = new ReadableStream(
      {
        async pull(controller) {
          counted.reads += 1;
          if (counted.reads === 1) controller.enqueue(begin);
          else {
            await finished;
            controller.enqueue(Buffer.from('"}'));
            controller.close();
          }
        },
      },
      { highWaterMark: 0 },
    );
    return { counted, answer: post(stream) };
  });
  const reads = () => bodies.filter(({ counted }) => counted.reads === 2).length;
  await expect.poll(reads).toBe(4);
  await expect.poll(() => bodies.filter(({ counted }) => counted.reads === 1).length).toBe(64);
  // The passwords were checked before, so the order of the requests at the queue is not that of their beginning.
  const extra = await post(countedBody(repeated('{"query":"', "x".repeat(MIB), 2, '"}')).stream);
  expect(extra).toEqual({
    status: 503,
    message: "too many requests with bodies above 1048576 bytes are waiting; try again later",
  });
  expect((await post('{"query":"select 1"}')).message).toContain(REACHED_POSTGRES);
  expect(reads()).toBe(4);
  finish();
  for (const { answer } of bodies) expect((await answer).message).toContain(REACHED_POSTGRES);
});
