import { expect, test } from "vitest";
import { startServer, testDirectory } from "../../support/server/running-server.ts";

const ROUNDS = 60;
const NESTED = `${"[".repeat(2_500)}${"]".repeat(2_500)}`;
const LONG_QUERY = `q=://${"a:".repeat(3_500)}`;

test("beside deeply nested and long requests without a key, no change of others fails", async () => {
  const server = await startServer(testDirectory());
  const statuses = { hostile: new Set<number>(), innocent: new Set<number>() };
  for (let round = 0; round < ROUNDS; round += 1) {
    const hostile = [
      server.api("POST", "/projects", NESTED, "nobody"),
      server.api("GET", `/projects?${LONG_QUERY}`, undefined, "nobody"),
    ];
    const innocent = [1, 2, 3, 4].map((number) =>
      server.api("POST", "/api_keys", { key_name: `${round}-${number}` }),
    );
    for (const { status } of await Promise.all(hostile)) statuses.hostile.add(status);
    for (const { status } of await Promise.all(innocent)) statuses.innocent.add(status);
  }
  expect(statuses).toEqual({ hostile: new Set([401]), innocent: new Set([200]) });
  expect((await server.api("GET", "/api_keys")).body).toHaveLength(4 * ROUNDS + 1);
  const { count } = (await server.sim("GET", "/requests?count=true")).body;
  expect(count).toBe(6 * ROUNDS + 1);
});
