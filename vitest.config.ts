import { availableParallelism } from "node:os";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { ClosingLine } from "./test/support/vitest/closing-line.ts";
import { useTemporaryDirectory } from "./test/support/vitest/temporary-directory.ts";

useTemporaryDirectory();

/** The tests of this package and of its satellites. */
const testsOf = (name: string) => [`test/${name}/**/*.test.ts`, `packages/*/test/${name}/**/*.test.ts`];

/** Tests that need nothing but the sources. Files share a worker, so a module is loaded once per worker. */
const fromSources = (name: string) => ({
  extends: true as const,
  test: { name, include: testsOf(name), isolate: false },
});

/** A browser and real Postgres clients: what `npm test` runs of the long tests. */
const SMOKE_TESTS = ["test/console/flows.test.ts", "test/postgres/psql.test.ts"];

/** Tests that start real processes: they run the bundle, which is built once before them. */
const fromBundle = (name: string, ...setups: string[]) => ({
  extends: true as const,
  test: {
    name,
    include: name === "smoke" ? SMOKE_TESTS : testsOf(name),
    exclude: [...configDefaults.exclude, ...(name === "smoke" ? [] : SMOKE_TESTS)],
    isolate: false,
    globalSetup: ["test/support/vitest/build.ts", ...setups],
    server: { deps: { external: [/\/dist\//] } },
  },
});

/** Satellites import the ports of this package by its name. */
const PORTS = {
  find: /^@standin\/standin\/ports\/(.*)$/,
  replacement: join(import.meta.dirname, "src/ports/$1.ts"),
};

const BROWSER = "test/support/browser/browser-program.ts";

export default defineConfig({
  resolve: { alias: [PORTS] },
  test: {
    projects: [
      // npm test
      fromSources("rules"),
      fromSources("unit"),
      fromSources("behaviour"),
      fromSources("property"),
      fromSources("replay"),
      fromBundle("contract"),
      fromBundle("smoke", BROWSER),
      // npm run test:long
      fromBundle("postgres"),
      fromBundle("e2e"),
      fromBundle("adversary"),
      fromBundle("console", BROWSER),
      fromBundle("others"),
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
