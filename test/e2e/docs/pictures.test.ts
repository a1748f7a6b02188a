import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

test.each(["readme-picture", "report-picture", "recording"])(
  "the pictures of scripts/%s.mjs are those that it draws today",
  (script) => {
    expect(() =>
      execFileSync(process.execPath, [`scripts/${script}.mjs`, "--check"], { stdio: "pipe" }),
    ).not.toThrow();
  },
);
