import { expect, test } from "vitest";
import { createAccount } from "../../support/double/compute.ts";
import { createDouble, createProject, type Double } from "../../support/double/double.ts";

const statusesOf = async (double: Double, count: number, path = "/projects", key?: string) => {
  const responses = await Promise.all(
    Array.from({ length: count }, () => double.api("GET", path, undefined, key)),
  );
  return responses.map(({ status }) => status);
};
const served = (statuses: readonly number[]) => statuses.filter((status) => status === 200).length;

test("the rate limit is off by default", async () => {
  const double = await createDouble();
  expect(served(await statusesOf(double, 1_000))).toBe(1_000);
});

test("a route accepts 40 requests in a second and rejects the next with 429 and Retry-After", async () => {
  const double = await createDouble({ rateLimit: true });
  expect(await statusesOf(double, 40)).toEqual(Array.from({ length: 40 }, () => 200));
  const { status, headers, body } = await double.api("GET", "/projects");
  expect([status, body.code]).toEqual([429, "TOO_MANY_REQUESTS"]);
  expect(headers.get("retry-after")).toBe("1");
  expect(body.message).toContain("40");
});

test("after a second of simulated time it accepts 40 more, not a millisecond before", async () => {
  const double = await createDouble({ rateLimit: true });
  await statusesOf(double, 41);
  await double.advance("999ms");
  expect(served(await statusesOf(double, 1))).toBe(0);
  await double.advance("1ms");
  expect(served(await statusesOf(double, 41))).toBe(40);
});

test("a route accepts 700 requests in a minute, then says how long to wait", async () => {
  const double = await createDouble({ rateLimit: true });
  let total = 0;
  for (let second = 0; second < 20; second += 1) {
    total += served(await statusesOf(double, 36));
    await double.advance("1s");
  }
  expect(total).toBe(700);
  const { status, headers, body } = await double.api("GET", "/projects");
  expect([status, headers.get("retry-after")]).toEqual([429, "40"]);
  expect(body.message).toContain("700");
  await double.advance("39999ms");
  expect((await double.api("GET", "/projects")).status).toBe(429);
  await double.advance("1ms");
  expect((await double.api("GET", "/projects")).status).toBe(200);
});

test("rejected requests do not count", async () => {
  const double = await createDouble({ rateLimit: true });
  await statusesOf(double, 1_000);
  await double.advance("1s");
  expect(served(await statusesOf(double, 40))).toBe(40);
});

test("each route has its own count, whatever its ids", async () => {
  const double = await createDouble({ rateLimit: true });
  const one = await createProject(double);
  const two = await createProject(double);
  expect(served(await statusesOf(double, 30, `/projects/${one.projectId}`))).toBe(30);
  expect(served(await statusesOf(double, 30, `/projects/${two.projectId}`))).toBe(10);
  expect(served(await statusesOf(double, 40, "/regions"))).toBe(40);
  expect(served(await statusesOf(double, 40, one.path))).toBe(40);
});

test("each account has its own count, and all its keys share it", async () => {
  const double = await createDouble({ rateLimit: true });
  const second = (await double.api("POST", "/api_keys", { key_name: "second" })).body.key;
  const other = await createAccount(double);
  expect(served(await statusesOf(double, 25))).toBe(25);
  expect(served(await statusesOf(double, 25, "/projects", second))).toBe(15);
  expect(served(await statusesOf(double, 40, "/projects", other.key))).toBe(40);
});

test("methods of one path are routes of their own", async () => {
  const double = await createDouble({ rateLimit: true });
  await statusesOf(double, 41);
  expect((await double.api("POST", "/projects", { project: {} })).status).toBe(201);
});

test("unauthenticated requests do not count against the limits of a key", async () => {
  const double = await createDouble({ rateLimit: true });
  for (const status of await statusesOf(double, 100, "/projects", "unknown"))
    expect([401, 429]).toContain(status);
  expect(served(await statusesOf(double, 40))).toBe(40);
});
