import { expect, test } from "vitest";
import { createScene, type Scene, send, UNKNOWN_IDS } from "../../support/document/contract-scene.ts";
import { EXAMPLES } from "../../support/document/operation-examples.ts";
import { loadPublicDocument } from "../../support/document/public-document.ts";
import { expectRejected } from "../../support/document/refused-request.ts";
import { API_KEY } from "../../support/double/double.ts";

const document = loadPublicDocument();

const callers: readonly (readonly [string, (scene: Scene) => Record<string, string>])[] = [
  ["no Authorization header", () => ({})],
  ["an Authorization header that is no bearer's", () => ({ Authorization: `Basic ${API_KEY}` })],
  ["a key without its scheme", () => ({ Authorization: API_KEY })],
  ["an empty key", () => ({ Authorization: "Bearer " })],
  ["an unknown key", () => ({ Authorization: `Bearer ${"x".repeat(64)}` })],
  ["the beginning of a valid key", () => ({ Authorization: `Bearer ${API_KEY.slice(0, -1)}` })],
  ["a valid key and more", () => ({ Authorization: `Bearer ${API_KEY}k` })],
  ["a revoked key", ({ revokedKey }) => ({ Authorization: `Bearer ${revokedKey}` })],
];

for (const operation of document.operations) {
  if (!(operation.operationId in EXAMPLES)) continue;
  test(`${operation.operationId} requires a valid key, and otherwise changes nothing`, async () => {
    const scene = await createScene();
    for (const [, headersOf] of callers) {
      const headers = { ...headersOf(scene), "Content-Type": "application/json" };
      await expectRejected(document, scene, operation, { headers }, { status: 401, code: "UNAUTHORIZED" });
    }
  });
}

test.each(callers)("with %s, an invalid body, id or path gets 401 like any request", async (_, headersOf) => {
  const scene = await createScene();
  const headers = headersOf(scene);
  const { project_id } = UNKNOWN_IDS;
  for (const [method, path, body] of [
    ["POST", "/projects", "{"],
    ["GET", `/projects/${project_id}`, undefined],
    ["GET", "/projects/Not_An_Id", undefined],
    ["GET", "/nothing/here", undefined],
    ["PUT", "/projects", undefined],
  ] as const) {
    const { status, body: answered } = await send(scene.double, method, path, { body, headers });
    expect({ path, status, code: answered.code }).toEqual({ path, status: 401, code: "UNAUTHORIZED" });
  }
});

test("the scheme of the Authorization header may be written in any case", async () => {
  const { double } = await createScene();
  for (const scheme of ["Bearer", "bearer", "BEARER"]) {
    expect(
      (await send(double, "GET", "/users/me", { headers: { Authorization: `${scheme} ${API_KEY}` } })).status,
    ).toBe(200);
  }
});

test("a 401 says how to authenticate", async () => {
  const { double } = await createScene();
  const { headers } = await send(double, "GET", "/users/me", {});
  expect(headers.get("www-authenticate")).toBe("Bearer");
});

test("an error carries the request id of the client, or a new one", async () => {
  const { double } = await createScene();
  const given = await send(double, "GET", "/users/me", { headers: { "X-Request-ID": "mine-1" } });
  expect([given.body.request_id, given.headers.get("x-request-id")]).toEqual(["mine-1", "mine-1"]);
  const [one, other] = [
    await send(double, "GET", "/users/me", {}),
    await send(double, "GET", "/users/me", {}),
  ];
  expect(one.body.request_id).not.toBe(other.body.request_id);
});
