// @ts-nocheck
import { expect, test } from "vitest";
import { createDouble } from "../../support/double.ts";
import { ZOD_TEXT } from "../../support/refused-request.ts";

// Field errors of both surfaces are in the words of src/http/issue-text.ts.

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
