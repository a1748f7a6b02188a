// @ts-nocheck
// The test runner of `npm run mutation`. Stryker's runner for Vitest starts a thread and loads every module for
// each mutant, which takes longer than the tests. This runner bundles the tests once for each process. It
// evaluates the bundle again for each mutant, so that mutants of constants are active, too.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Script } from "node:vm";
import { INSTRUMENTER_CONSTANTS } from "@stryker-mutator/api/core";
import { commonTokens, declareClassPlugin, PluginKind, tokens } from "@stryker-mutator/api/plugin";
import {
  DryRunStatus,
  determineHitLimitReached,
  TestStatus,
  toMutantRunResult,
} from "@stryker-mutator/api/test-runner";
import { startTests } from "@vitest/runner";
import { getTests } from "@vitest/runner/utils";
import { build } from "esbuild";
import { expect } from "vitest";

/** The object that the instrumented code reads and writes. */
const stryker = {};
globalThis[INSTRUMENTER_CONSTANTS.NAMESPACE] = stryker;

class BundleRunner {
  static inject = tokens(commonTokens.options);
  #tests;
  /** Evaluates the bundle. Returns, by the path of each test file, a function that loads the file. */
  #evaluate;
  /** Errors outside of tests, such as rejected promises that no test awaits. */
  #unhandled = [];

  constructor({ mutationTests }) {
    this.#tests = mutationTests;
  }

  capabilities() {
    return { reloadEnvironment: true };
  }

  async init() {
    const files = this.#tests.flatMap(testFilesIn);
    if (files.length === 0) throw new Error("mutationTests: names no test files");
    this.#evaluate = await bundle(files);
    for (const event of ["unhandledRejection", "uncaughtException"])
      process.on(event, (error) => this.#unhandled.push(error));
  }

  async dryRun() {
    delete stryker.activeMutant;
    delete stryker.mutantCoverage;
    const result = await this.#run({
      onBeforeTryTask(test) {
        stryker.currentTestId = idOf(test);
        nameInFailures(test);
      },
      onAfterTryTask() {
        delete stryker.currentTestId;
      },
    });
    return { ...result, mutantCoverage: stryker.mutantCoverage };
  }

  async mutantRun({ testFilter, activeMutant, mutantActivation, hitLimit, disableBail }) {
    const selected = testFilter && new Set(testFilter);
    let hasFailed = false;
    const activate = () => {
      stryker.activeMutant = activeMutant.id;
    };
    delete stryker.activeMutant;
    Object.assign(stryker, { hitCount: 0, hitLimit });
    if (mutantActivation === "static") activate();
    const result = await this.#run(
      {
        onCollected: activate,
        onBeforeTryTask: nameInFailures,
        onBeforeRunTask(test) {
          if (hasFailed || selected?.has(idOf(test)) === false) test.mode = "skip";
        },
        onAfterRunTask(test) {
          hasFailed ||= !disableBail && test.result?.state === "fail";
        },
      },
      selected && new Set(testFilter.map((id) => id.slice(0, id.indexOf("#")))),
    );
    return toMutantRunResult(determineHitLimitReached(stryker.hitCount, hitLimit) ?? result);
  }

  async #run(hooks, files) {
    this.#unhandled.length = 0;
    const loaders = this.#evaluate();
    const config = { ...CONFIG, root: process.cwd() };
    const runner = { config, importFile: (file) => loaders[file](), ...hooks };
    const reports = await startTests(
      Object.keys(loaders).filter((file) => files?.has(file) !== false),
      runner,
    );
    const errors = [...reports.flatMap(({ result }) => result?.errors ?? []), ...this.#unhandled];
    const tests = reports.flatMap(getTests).filter(({ mode, result }) => mode === "run" && result);
    const results = tests.map(resultOf);
    if (errors.length > 0 && !results.some(({ status }) => status === TestStatus.Failed))
      results.push({ id: "load", name: "load", timeSpentMs: 0, ...failure(errors[0]) });
    return { status: DryRunStatus.Complete, tests: results };
  }
}

const CONFIG = {
  name: "mutation",
  setupFiles: [],
  passWithNoTests: true,
  allowOnly: false,
  sequence: { hooks: "stack", setupFiles: "list", seed: 0 },
  maxConcurrency: 1,
  // Stryker ends a mutant that takes too long. A slow test of a busy machine must not count as a failure.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  retry: 0,
  includeTaskLocation: false,
  tags: [],
  strictTags: false,
  // No report contains the differences of failed assertions, so they are kept short.
  diffOptions: { maxDepth: 1, truncateThreshold: 10 },
};

/** The test files of a folder, or the file itself. */
function testFilesIn(path) {
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true })
    .filter((name) => name.endsWith(".test.ts"))
    .sort()
    .map((name) => join(path, name));
}

async function bundle(files) {
  const packages = {};
  const entry = files.map((file) => `${JSON.stringify(file)}: () => import(${JSON.stringify(`./${file}`)}),`);
  const { outputFiles } = await build({
    stdin: { contents: `module.exports = {\n${entry.join("\n")}\n};`, resolveDir: process.cwd() },
    bundle: true,
    write: false,
    format: "cjs",
    platform: "node",
    target: "node20",
    logLevel: "silent",
    plugins: [
      {
        name: "mutation",
        setup(building) {
          // Packages are loaded once for each process, and keep their state.
          building.onResolve({ filter: /^[@a-z]/ }, ({ path }) =>
            path.startsWith("node:") ? { path, external: true } : { path, namespace: "package" },
          );
          building.onLoad({ filter: /./, namespace: "package" }, async ({ path }) => {
            packages[path] = await import(path);
            const names = Object.keys(packages[path]).filter((name) => name !== "default");
            const contents = `const all = packages[${JSON.stringify(path)}];
export default all.default;
${names.map((name, index) => `const name${index} = all[${JSON.stringify(name)}]; export { name${index} as ${JSON.stringify(name)} };`).join("\n")}`;
            return { contents, loader: "js" };
          });
          building.onLoad({ filter: /\.tsx?$/ }, ({ path }) => ({
            contents: readFileSync(path, "utf8")
              .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
              .replaceAll("import.meta.dirname", JSON.stringify(dirname(path))),
            loader: "ts",
          }));
        },
      },
    ],
  });
  const script = new Script(`(function (module, require, packages) {${outputFiles[0].text}\n})`, {
    filename: "mutation-tests.cjs",
  });
  const evaluate = script.runInThisContext();
  const require = createRequire(import.meta.url);
  return () => {
    const module = { exports: {} };
    evaluate(module, require, packages);
    return module.exports;
  };
}

/** A failed property prints how to repeat it. */
function nameInFailures(test) {
  expect.setState({ testPath: test.file.filepath, currentTestName: nameOf(test) });
}

function idOf(test) {
  return `${test.file.name}#${nameOf(test)}`;
}

function nameOf({ name, suite }) {
  return suite === undefined ? name : `${nameOf(suite)} ${name}`;
}

function resultOf(test) {
  const { state, duration, errors } = test.result;
  const base = {
    id: idOf(test),
    name: nameOf(test),
    fileName: test.file.filepath,
    timeSpentMs: duration ?? 0,
  };
  return state === "pass" ? { ...base, status: TestStatus.Success } : { ...base, ...failure(errors?.[0]) };
}

function failure(error) {
  return { status: TestStatus.Failed, failureMessage: String(error?.message ?? error ?? "failed") };
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, "bundle", BundleRunner)];

export const strykerValidationSchema = {
  properties: {
    mutationTests: {
      description: "Folders of tests, and test files, that are run for each mutant.",
      type: "array",
      items: { type: "string" },
      default: [],
    },
  },
};
