import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", new ClosingLine()],
  },
});
