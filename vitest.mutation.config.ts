import { defineConfig } from "vitest/config";

/** The tests that `npm run mutation` repeats for every mutant: those of the rules and of single modules. */
export default defineConfig({
  test: {
    include: ["test/rules/**/*.test.ts", "test/unit/{platform,simulation,whatif}/**/*.test.ts"],
    testTimeout: 20_000,
  },
});
