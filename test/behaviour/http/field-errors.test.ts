import { expect, test } from "vitest";
import { ZOD_TEXT } from "../../support/document/refused-request.ts";
import { createDouble } from "../../support/double/double.ts";

// Field errors of both surfaces are in the words of src/input-limits/issue-text.ts.

test.each([
  ["/accounts", {}, "name: is required and must be a string"],
  ["/accounts", { name: "a", plan: "huge" }, "plan: must be one of paid, free"],
  ["/accounts", { name: "a", email: "a" }, "email: must be an email address like somebody@example.com"],
  ["/accounts", { name: "a", extra: 1 }, 'request body: there is no field "extra"'],
  ["/api_keys", { key_name: null }, "key_name: must be a string, not null"],
  ["/activity", [], "request body: must not be empty"],
  ["/activity", { endpoint_id: "ep-a", load: -1 }, "load: must be at least 0"],
  ["/activity", [{ endpoint_id: "ep-a", kind: "odd" }], /^0\.kind: must be one of /],
  ["/activity", [{ endpoint_id: "ep-a" }, {}], "1.endpoint_id: is required and must be a string"],
])("POST /_sim%s with %j says what is wrong", async (path, body, message) => {
  const double = await createDouble();
  const response = await double.sim("POST", path, body);
  expect([response.status, response.body.code]).toEqual([400, "BAD_REQUEST"]);
  if (typeof message === "string") expect(response.body.message).toBe(message);
  else expect(response.body.message).toMatch(message);
  expect(response.body.message).not.toMatch(ZOD_TEXT);
});

test.each([
  [{ latency: {} }, /effect\.latency\.takes: must be /],
  [
    { rate_limit: { requests: 1.5, per: "1m" } },
    /effect\.rate_limit\.requests: must be a whole number, not 1\.5/,
  ],
  [{ answer: { status: "no" } }, /effect\.answer\.status: must be a number, not a string/],
  [{ drop: { at: 1 } }, /effect\.drop: there is no field "at"/],
])("a fault with %j says what is wrong", async (effect, message) => {
  const double = await createDouble();
  const { status, body } = await double.sim("PUT", "/faults/slow", { on: { operation: "*" }, effect });
  expect([status, body.message]).toEqual([400, expect.stringMatching(message)]);
  expect(body.message).not.toMatch(ZOD_TEXT);
});

test("several wrong fields are reported at once, each in one sentence", async () => {
  const double = await createDouble();
  const project = { name: "x".repeat(257), pg_version: "new", store_passwords: "no" };
  const { body } = await double.api("POST", "/projects", { project });
  expect(body.message).toBe(
    [
      "project.name: must have 1 to 256 characters",
      "project.pg_version: must be a number, not a string",
      "project.store_passwords: must be true or false, not a string",
    ].join("; "),
  );
});

test("a list with more than 1,000 entries is 400 with its field and the limit, before its entries are checked", async () => {
  const double = await createDouble();
  const send = (ips: readonly string[]) =>
    double.api("POST", "/projects", { project: { settings: { allowed_ips: { ips } } } });
  const addresses = Array.from({ length: 1_001 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  expect((await send(addresses.slice(1))).status).toBe(201);
  for (const ips of [addresses, Array.from({ length: 50_000 }, () => "x")]) {
    const { status, body } = await send(ips);
    expect([status, body.message]).toEqual([
      400,
      "project.settings.allowed_ips.ips: must have at most 1000 entries",
    ]);
  }
  const annotations = Object.fromEntries(addresses.map((name) => [name, "v"]));
  const { body } = await double.api("POST", "/projects", { project: { branch: { annotations } } });
  expect(body.message).toBe("project.branch.annotations: must have at most 1000 entries");
});

test("an answer describes 20 problems, and states how many more there are", async () => {
  const double = await createDouble();
  const send = async (count: number) => {
    const ips = Array.from({ length: count }, () => "x");
    return (await double.api("POST", "/projects", { project: { settings: { allowed_ips: { ips } } } })).body;
  };
  expect((await send(20)).message.split("; ")).toHaveLength(20);
  const { message } = await send(1_000);
  expect(message.split("; ")).toHaveLength(21);
  expect(message).toMatch(
    /^project\.settings\.allowed_ips\.ips\.0: must be an IP address.*; and 980 more problems$/,
  );
});

test("an error has at most 8,192 characters, whatever the request contains", async () => {
  const double = await createDouble();
  const fields = Object.fromEntries(
    Array.from({ length: 500 }, (_, index) => [`${index}${"x".repeat(1_500)}`, 1]),
  );
  const { body } = await double.sim("POST", "/accounts", fields);
  expect(body.message).toMatch(/request body: there is no field "0xxx.*…/);
  expect(body.message.length).toBeLessThanOrEqual(8_192);
  const torn = `{"${"y".repeat(100_000)}":"\\ud800"}`;
  expect((await double.api("POST", "/projects", torn)).body.message.length).toBeLessThanOrEqual(8_192);
});
