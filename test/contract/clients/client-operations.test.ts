import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { KNOWN_OPERATIONS } from "../../../src/platform-api/coverage/client-operations.ts";
import { coverage } from "../../../src/platform-api/coverage.ts";
import { createDouble } from "../../support/double/double.ts";

// Newer clients call operations that the public document lacks.

const SDK = join(
  dirname(createRequire(import.meta.url).resolve("neon/package.json")),
  "../@neon/sdk/dist/client/sdk.gen.js",
);

/** Every method and path that the SDK calls, without the names of its parameters. */
function sdkRoutes(): string[] {
  const calls = readFileSync(SDK, "utf8").matchAll(
    /\.(get|post|put|patch|delete)\(\{(?:(?!\burl:)[\s\S])*\burl: "([^"]+)"/g,
  );
  return [...calls].map(([, method = "", path = ""]) => withoutNames(method.toUpperCase(), path));
}

function withoutNames(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`;
}

test("every operation that the SDK calls is known", () => {
  const known = new Set(KNOWN_OPERATIONS.map(({ method, path }) => withoutNames(method, path)));
  const routes = sdkRoutes();
  expect(routes.length).toBeGreaterThan(100);
  expect(routes.filter((route) => !known.has(route))).toEqual([]);
});

describe("an operation of a newer client answers 501 and names itself", () => {
  const refused = coverage().client_operations.filter((operation) => operation.coverage === "refused");
  test.each(refused.map(({ operation_id, method, path }) => [operation_id, method, path]))(
    "%s",
    async (operationId, method, path) => {
      const double = await createDouble();
      const { status, body } = await double.api(method as "GET", path.replaceAll(/\{\w+\}/g, "a"));
      expect([status, body.code]).toEqual([501, "NOT_IMITATED"]);
      expect(body.message).toBe(
        `${operationId} (${method} ${path}) is not imitated; GET /_sim/coverage lists the operations that are`,
      );
    },
  );
});

test("another method of such a path is 405 with the methods that clients call", async () => {
  const double = await createDouble();
  const { status, headers } = await double.api("PUT" as "POST", "/projects/a/branches/b/triggers/c");
  expect([status, headers.get("allow")]).toEqual([405, "GET, PATCH, DELETE"]);
});
