import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/closing-line.ts";
import { useTemporaryDirectory } from "./test/support/temporary-directory.ts";

useTemporaryDirectory();

/** Tests that need nothing but the sources. Files share a worker, so a module is loaded once per worker. */
const fromSources = (name: string) => ({
  extends: true as const,
  test: { name, include: [`test/${name}/**/*.test.ts`], isolate: false },
});

/** Tests that start real processes: they run the bundle, which is built once before them. */
const fromBundle = (name: string, ...setups: string[]) => ({
  extends: true as const,
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    isolate: false,
    globalSetup: ["test/support/build.ts", ...setups],
    server: { deps: { external: [/\/dist\//] } },
  },
});

/** With small blocks of events: worlds of tests have few events. */
const withSmallBlocks = (name: string) => ({
  ...fromSources(name),
  resolve: {
    alias: [
      { find: /^\.\/block-size\.ts$/, replacement: join(import.meta.dirname, "test/support/block-size.ts") },
    ],
  },
});

export default defineConfig({
  test: {
    projects: [
      fromSources("rules"),
      fromSources("unit"),
      withSmallBlocks("behaviour"),
      withSmallBlocks("property"),
      withSmallBlocks("replay"),
      fromBundle("contract"),
      fromBundle("e2e"),
      fromBundle("adversary"),
      fromBundle("console", "test/support/browser-program.ts"),
    ],
    // Many tests wait for processes: even two cores have room for three.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // By default a poll fails after a second, which a busy machine may need for anything.
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", new ClosingLine()],
  },
});
