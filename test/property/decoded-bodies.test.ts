import fc from "fast-check";
import { test } from "vitest";
import { bodyFailure } from "../../src/platform-api/decoding/decode-request.ts";
import { BODY_TYPES } from "../../src/platform-api/decoding/request-types.ts";
import { expectHolds } from "../support/properties/properties.ts";

/** A text like JSON, in which at most one character was removed, replaced or inserted. */
const nearlyJson = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    fc.nat(),
    fc.constantFrom("", ...'{}[]",:\\u-+.eE01 nulltrue\u0001x€'),
    fc.nat(2),
  )
  .map(([text, at, inserted, removed]) => {
    const start = at % (text.length + 1);
    return text.slice(0, start) + inserted + text.slice(start + removed);
  });

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test("the decoder refuses exactly what is not JSON, where no field is known", async () => {
  await expectHolds(
    fc.property(nearlyJson, (text) => {
      const body = `{"key_name":"a","other":${text}}`;
      return (bodyFailure("createApiKey", body) === undefined) === isJson(body);
    }),
    10_000,
  );
});

test("the decoder of each operation ends with a message or without one, whatever the body is", async () => {
  const operations = fc.constantFrom(...Object.keys(BODY_TYPES));
  await expectHolds(
    fc.property(operations, fc.oneof(nearlyJson, fc.string()), (operation, text) => {
      const failure = bodyFailure(operation, text);
      return failure === undefined || failure.length > 0;
    }),
    5_000,
  );
});
