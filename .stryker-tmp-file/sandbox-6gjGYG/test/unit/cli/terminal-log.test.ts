// @ts-nocheck
import { expect, test } from "vitest";
import { formatLogLine } from "../../../src/cli/server/terminal-log.ts";

const LINE =
  '{"level":30,"time":"2026-11-22T09:41:07.123Z","sim":"2026-01-01T00:05:00.000Z","msg":"stopping"}';

test("an entry is one readable line with wall-clock time, level, message and simulated time", () => {
  expect(formatLogLine(LINE, false)).toBe("09:41:07 info  stopping (sim 2026-01-01T00:05:00.000Z)\n");
});

test("other fields follow the message, and an error shows its stack on its own lines", () => {
  const request = { level: 20, time: "2026-11-22T09:41:07.123Z", method: "GET", status: 200, msg: "request" };
  expect(formatLogLine(JSON.stringify(request), false)).toBe(
    "09:41:07 debug request (method=GET, status=200)\n",
  );
  const failed = {
    level: 50,
    time: "2026-11-22T09:41:07.123Z",
    err: { stack: "Error: full\n    at x" },
    msg: "failed",
  };
  expect(formatLogLine(JSON.stringify(failed), false)).toBe("09:41:07 error failed\nError: full\n    at x\n");
});

test("colours are used only on request", () => {
  expect(formatLogLine(LINE, true)).toContain("\u001b[");
  expect(formatLogLine(LINE, false)).not.toContain("\u001b[");
});
