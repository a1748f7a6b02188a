import { execFileSync, spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { PlantedBug } from "./planted-bug.ts";

/** `failed`: the titles of the tests that failed. `reason`: why the tests could not be run. */
export type TestOutcome =
  | { readonly failed: readonly string[]; readonly reason?: undefined }
  | { readonly failed?: undefined; readonly reason: string };

/** Tests of one file. `titles`: parts of their titles; absent: all of them. */
export type SelectedTests = { readonly test: string; readonly titles?: readonly string[] | undefined };

type Report = {
  readonly testResults: readonly {
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
};

/** Caches of programs, which belong to each copy. */
const NOT_LINKED = new Set([".vite", ".vite-temp", ".cache"]);
/** How long tests may take to end after SIGTERM, in milliseconds of wall-clock time. */
const STOP_TIMEOUT_MS = 10_000;
const REPORT = "planted-report.json";
/** Imports the files of all rules, which are no test files. */
const ALL_RULES = "test/rules/rules.test.ts";

/** A copy of the repository, in which bugs are planted one after another. The original is never changed. */
export class PlantedCopy {
  readonly #directory: string;

  /** Also copies what is not committed. */
  constructor(root: string) {
    this.#directory = mkdtempSync(join(tmpdir(), "standin-planted-"));
    for (const name of sourcesOf(root)) {
      const target = join(this.#directory, name);
      mkdirSync(dirname(target), { recursive: true });
      copyFileSync(join(root, name), target);
    }
    const modules = join(this.#directory, "node_modules");
    mkdirSync(modules);
    for (const name of readdirSync(join(root, "node_modules")))
      if (!NOT_LINKED.has(name)) symlinkSync(join(root, "node_modules", name), join(modules, name));
  }

  /** Runs tests of the code as it is. */
  runSound(tests: SelectedTests, signal: AbortSignal): Promise<TestOutcome> {
    return this.#run(tests, [], signal);
  }

  /** Runs the tests of a bug with the bug, until one fails. */
  async runWith(
    { file, search, replacement, test, titles }: PlantedBug,
    signal: AbortSignal,
  ): Promise<TestOutcome> {
    const path = join(this.#directory, file);
    const code = readFileSync(path, "utf8");
    // A function, because `$&` in a text would be replaced.
    writeFileSync(
      path,
      code.replace(search, () => replacement),
    );
    try {
      return await this.#run(
        { test, titles: titles === undefined ? undefined : [titles] },
        ["--bail", "1"],
        signal,
      );
    } finally {
      writeFileSync(path, code);
    }
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #run(
    { test, titles }: SelectedTests,
    args: readonly string[],
    signal: AbortSignal,
  ): Promise<TestOutcome> {
    const report = join(this.#directory, REPORT);
    rmSync(report, { force: true });
    const [, project = ""] = test.split("/");
    const entry = project === "rules" ? ALL_RULES : test;
    const output = await runToEnd(
      process.execPath,
      [
        ...["node_modules/vitest/vitest.mjs", "run", "--project", project, entry, ...args],
        ...["--reporter", "json", "--outputFile", report],
        ...(titles === undefined ? [] : ["-t", titles.map(escaped).join("|")]),
      ],
      this.#directory,
      signal,
    );
    if (!existsSync(report)) return { reason: lastLines(output) };
    return outcomeOf(JSON.parse(readFileSync(report, "utf8")));
  }
}

/** All files that git knows or would add. */
function sourcesOf(root: string): string[] {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  return listed.split("\0").filter((name) => name !== "" && existsSync(join(root, name)));
}

/** Returns what the program wrote. Its process group ends with the signal. */
function runToEnd(
  program: string,
  args: readonly string[],
  cwd: string,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // The copy is built anew for each bug.
    const { STANDIN_TEST_IS_BUILT: _, ...env } = process.env;
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-10_000);
      });
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      endGroup(child.pid, "SIGTERM");
      timer = setTimeout(() => endGroup(child.pid, "SIGKILL"), STOP_TIMEOUT_MS);
    };
    signal.addEventListener("abort", stop);
    if (signal.aborted) stop();
    child.once("error", reject).once("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(output);
    });
  });
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

export function outcomeOf({ testResults }: Report): TestOutcome {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
  if (failed.length > 0) return { failed };
  // A file that cannot be loaded, or a hook: nothing says that a test has noticed the bug.
  const broken = testResults.find(({ status }) => status === "failed");
  if (broken !== undefined) return { reason: broken.message };
  return results.some(({ status }) => status === "passed")
    ? { failed: [] }
    : { reason: "no test has these titles, or all were skipped" };
}

/** As a regular expression that only this text matches. */
function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

function lastLines(text: string): string {
  return text.trim().split("\n").slice(-5).join("\n");
}
