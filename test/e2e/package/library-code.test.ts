import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { createContext, runInContext } from "node:vm";
import { expect, test } from "vitest";
import { testDirectory } from "../../support/server/running-server.ts";

const run = promisify(execFile);
const DIST = join(import.meta.dirname, "../../../dist");
const LONG_AGO = new Date("2026-01-01T00:00:00Z");
const USE = `const sim = await createStandin({ port: false });
const { status } = await sim.fetch("/api/v2/projects");
console.log(status, await sim.now());
await sim.close();`;
const PRINTED = "200 2026-01-01T00:00:00.000Z\n";
const BY_IMPORT = `import { createStandin } from "${DIST}/create-standin.js";\n${USE}`;
const BY_REQUIRE = `const { createStandin } = require("${DIST}/create-standin.cjs");\n(async () => {${USE}})();`;
const IN_THREAD = `import { Worker } from "node:worker_threads";
import { writeFileSync } from "node:fs";
const file = new URL("./in-thread.mjs", import.meta.url);
writeFileSync(file, ${JSON.stringify(BY_IMPORT)});
for (const worker of [new Worker(file), new Worker(file)]) worker.on("error", (error) => { throw error; });`;

/** Programs that keep the compiled code of the library in a directory of the test. */
function programs(cache = testDirectory()) {
  const directory = testDirectory();
  const env = { ...process.env, NODE_COMPILE_CACHE: cache, NODE_DISABLE_COMPILE_CACHE: "" };
  const stored = join(cache, "standin");
  const names = () => (existsSync(stored) ? readdirSync(stored) : []);
  const path = () => join(stored, names()[0] ?? "");
  return {
    names,
    path,
    age: () => utimesSync(path(), LONG_AGO, LONG_AGO),
    isOld: () => statSync(path()).mtimeMs === LONG_AGO.getTime(),
    async run(source: string, file = "program.mjs") {
      writeFileSync(join(directory, file), source);
      return run(process.execPath, [join(directory, file)], { env });
    },
  };
}

test.each([
  ["imports", BY_IMPORT, "program.mjs"],
  ["requires", BY_REQUIRE, "program.cjs"],
])("a program that %s the library keeps its compiled code for the next start", async (_, source, file) => {
  const stored = programs();
  expect(await stored.run(source, file)).toEqual({ stdout: PRINTED, stderr: "" });
  expect(stored.names()).toEqual([
    expect.stringMatching(/^simulator-\w+\.cjs-v[\d.]+-\w+-[0-9a-f]+-library$/),
  ]);
  expect(statSync(stored.path()).mode & 0o777).toBe(0o600);
  stored.age();
  expect(await stored.run(source, file)).toEqual({ stdout: PRINTED, stderr: "" });
  expect(stored.isOld()).toBe(true);
});

test("a thread keeps the code as well", async () => {
  const stored = programs();
  const { stdout, stderr } = await stored.run(IN_THREAD);
  expect([stdout, stderr]).toEqual([PRINTED + PRINTED, ""]);
  expect(stored.names()).toHaveLength(1);
});

test.each([
  [
    "damaged",
    (path: string, code: Buffer) => writeFileSync(path, code.fill((code[5_000] ?? 0) ^ 1, 5_000, 5_001)),
  ],
  ["cut off", (path: string, code: Buffer) => writeFileSync(path, code.subarray(0, code.length / 2))],
  ["writable by others", (path: string) => chmodSync(path, 0o666)],
])("code that is %s is not used, and is replaced", async (_, change) => {
  const stored = programs();
  await stored.run(BY_IMPORT);
  change(stored.path(), readFileSync(stored.path()));
  stored.age();
  expect(await stored.run(BY_IMPORT)).toEqual({ stdout: PRINTED, stderr: "" });
  expect(stored.isOld()).toBe(false);
});

test("programs that start together leave one file, which the next one uses", async () => {
  const stored = programs();
  const together = ["one.mjs", "two.mjs", "three.mjs"].map((file) => stored.run(BY_IMPORT, file));
  for (const { stdout, stderr } of await Promise.all(together))
    expect([stdout, stderr]).toEqual([PRINTED, ""]);
  expect(stored.names()).toHaveLength(1);
  stored.age();
  expect(await stored.run(BY_IMPORT)).toEqual({ stdout: PRINTED, stderr: "" });
  expect(stored.isOld()).toBe(true);
});

test("where no code can be written, the library works as well", async () => {
  const file = join(testDirectory(), "file");
  writeFileSync(file, "");
  expect(await programs(file).run(BY_IMPORT)).toEqual({ stdout: PRINTED, stderr: "" });
});

test("what is imported and what is required is one simulator, with one class of errors", async () => {
  const source = `import { createRequire } from "node:module";
import { createStandin, StandinError } from "${DIST}/create-standin.js";
const required = createRequire(import.meta.url)("${DIST}/create-standin.cjs");
console.log(required.createStandin === createStandin, required.StandinError === StandinError);`;
  expect((await programs().run(source)).stdout).toBe("true true\n");
});

test("in a context with globals of its own, such as that of Jest, errors are errors of this context", () => {
  const node = createRequire(import.meta.url);
  const context = createContext({});
  // What Node adds to the language, such as `Response`.
  for (const name of Object.getOwnPropertyNames(globalThis))
    if (!Object.hasOwn(runInContext("globalThis", context), name))
      context[name] = globalThis[name as keyof typeof globalThis];
  /** Evaluates a file of the package in the context, as such a test runner does. */
  const load = (file: string): unknown => {
    const module = { exports: {} };
    const require = (name: string): unknown => {
      if (name === "node:module") return { createRequire: () => require };
      if (name.endsWith(".cjs")) return load(resolve(DIST, name));
      return node(name);
    };
    const parameters = "exports, require, module, __filename, __dirname";
    const code = `(function (${parameters}) {${readFileSync(file, "utf8")}\n})`;
    runInContext(code, context).call(module.exports, module.exports, require, module, file, DIST);
    return module.exports;
  };
  const { StandinError } = load(join(DIST, "create-standin.cjs")) as { StandinError: object };
  expect(Object.getPrototypeOf(StandinError)).toBe(runInContext("Error", context));
  expect(Object.getPrototypeOf(StandinError)).not.toBe(Error);
});
