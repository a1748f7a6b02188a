import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ClosedLoopOptions, ClosedLoopResult } from "../load/closed-loop.ts";
import type { OpenLoopOptions, OpenLoopResult } from "../load/open-loop.ts";
import { bundleProcesses } from "./bundle.ts";
import { Child } from "./child.ts";

const ROOT = join(import.meta.dirname, "../..");
// Not the system's temporary directory: on tmpfs, a durable write would cost nothing.
const CACHE = join(ROOT, "node_modules/.cache");

export const COMMAND = join(ROOT, "dist/standin.js");
/** The package's export, as a test imports it. */
export const PACKAGE = join(ROOT, "dist/create-standin.js");
export const MIGRATIONS = join(ROOT, "migrations");

/** Child processes, directories and a load generator. `close` ends the processes and deletes the files. */
export class BenchEnvironment {
  /** Fewer and shorter rounds. The figures are not meaningful. */
  readonly quick: boolean;
  readonly #directory: string;
  readonly #children = new Set<Child>();
  #directories = 0;
  #loadGenerator: Promise<Child> | undefined;
  #closed = false;

  static async open(quick: boolean): Promise<BenchEnvironment> {
    const environment = new BenchEnvironment(quick);
    try {
      await bundleProcesses(environment.#directory);
    } catch (error) {
      await environment.close();
      throw error;
    }
    return environment;
  }

  private constructor(quick: boolean) {
    this.quick = quick;
    mkdirSync(CACHE, { recursive: true });
    this.#directory = mkdtempSync(join(CACHE, "standin-bench-"));
  }

  directory(): string {
    this.#directories += 1;
    const path = join(this.#directory, `data-${this.#directories}`);
    mkdirSync(path);
    return path;
  }

  /** Path of a bundled file of bench/processes. */
  script(name: string): string {
    return join(this.#directory, `${name}.mjs`);
  }

  /** Runs `node` with these arguments and waits until it is ready. */
  async start<Ready>(
    args: readonly string[],
    options: ConstructorParameters<typeof Child>[1] = {},
  ): Promise<Child<Ready>> {
    if (this.#closed) throw new Error("the benchmark environment is closed");
    const child = new Child<Ready>(args, options);
    this.#children.add(child);
    return await child.started();
  }

  async stop(child: Child): Promise<void> {
    await child.stop();
    this.#children.delete(child);
  }

  async runClosedLoop(options: ClosedLoopOptions): Promise<ClosedLoopResult> {
    return (await this.#startedLoadGenerator()).request("runClosedLoop", options);
  }

  async runOpenLoop(options: OpenLoopOptions): Promise<OpenLoopResult[]> {
    return (await this.#startedLoadGenerator()).request("runOpenLoop", options);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#children].map((child) => child.stop()));
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #startedLoadGenerator(): Promise<Child> {
    this.#loadGenerator ??= this.start([this.script("load-generator")]);
    return this.#loadGenerator;
  }
}
