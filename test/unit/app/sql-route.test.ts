import { expect, test } from "vitest";
import { abandonedBy, placesForSqlBodies, sqlRoute } from "../../../src/app/sql-route.ts";

/** The address that the rules of a project are applied to. */
async function addressOf(env: object): Promise<unknown> {
  const app = sqlRoute(
    async ({ address }) => ({ status: 200, headers: {}, body: JSON.stringify(address) }),
    placesForSqlBodies(),
    undefined,
  );
  return (await app.request("/sql", { method: "POST", body: "{}" }, env)).json();
}

test("a client that has closed its connection does not count as one of this machine", async () => {
  expect(await addressOf({ incoming: { socket: {} } })).toBe("");
});

test("the address of a client is that of its socket, and a client in this process has the loopback address", async () => {
  expect(await addressOf({ incoming: { socket: { remoteAddress: "::ffff:10.0.0.1" } } })).toBe("10.0.0.1");
  expect(await addressOf({})).toBe("127.0.0.1");
});

test("a client that left before its session was sought has left", () => {
  const controller = new AbortController();
  controller.abort();
  let hasLeft = false;
  abandonedBy(controller.signal)(() => {
    hasLeft = true;
  });
  expect(hasLeft).toBe(true);
});
