import { expect, test } from "vitest";
import { parseStrictInstant } from "../../../../src/traffic/recorded/rows/instant.ts";

test.each([
  "2026-03-01",
  "2026-03-01T12:00Z",
  "2026-03-01T12:00:30+05:30",
  "2026-03-01T23:59:59.999-11:00",
  "2026-03-01T24:00:00Z",
  "1970-01-01T00:00:00.5Z",
])("%s is an instant", (text) => {
  expect(parseStrictInstant(text)).toBe(Date.parse(text));
});

test.each([
  "",
  "today",
  "1772366400000",
  "2026-02-30",
  "2026-13-01",
  "2026-03-01T12:00",
  "2026-03-01 12:00:00Z",
  "2026-03-01T12:60Z",
  "2026-03-01T24:30Z",
  "2026-03-01T12:00:60Z",
  "2026-03-01T12:00:00.1234Z",
  "2026-03-01T12:00+25:00",
  "1969-12-31",
])("%s is not an instant", (text) => {
  expect(parseStrictInstant(text)).toBeUndefined();
});
