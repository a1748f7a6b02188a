import { expect, test } from "vitest";
import { redactedBody } from "../../../src/platform-api/http/request-journal.ts";

const logged = (text: string) =>
  JSON.stringify(redactedBody({ text, tooLarge: false, contentType: "application/json" }));

test("a logged body has its fields in their order, without the secrets at any depth", () => {
  const body =
    '{"b":[1,{"password":"p","on":true},null],"2":"two","a":{"api_key":["k"],"store_passwords":true}}';
  expect(logged(body)).toBe(
    '{"2":"two","b":[1,{"password":"[removed]","on":true},null],"a":{"api_key":"[removed]","store_passwords":true}}',
  );
});

test("a logged body has a field named __proto__ like others", () => {
  expect(logged('{"__proto__":{"token":"t","x":1},"y":[{"__proto__":"on"}]}')).toBe(
    '{"__proto__":{"token":"[removed]","x":1},"y":[{"__proto__":"on"}]}',
  );
});
