import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Flood, FloodResult } from "../load/flood.ts";
import type { Paced, PacedResult } from "../load/paced.ts";
import { bundleProcesses } from "./bundle.ts";
import { Child } from "./child.ts";

const ROOT = join(import.meta.dirname, "../..");
// Not the system's directory for temporary files: where that is memory, a durable write would cost nothing.
const CACHE = join(ROOT, "node_modules/.cache");

export const COMMAND = join(ROOT, "dist/standin.js");
/** The package's export, as a test imports it. */
export const PACKAGE = join(ROOT, "dist/create-standin.js");
export const MIGRATIONS = join(ROOT, "migrations");

/** What benchmarks have to work with: processes, directories and a client. All of it is gone when it closes. */
export class BenchEnvironment {
  /** Fewer rounds and shorter ones: to see that it works, not to know. */
  readonly quick: boolean;
  readonly #directory: string;
  readonly #children = new Set<Child>();
  #directories = 0;
  #client: Promise<Child> | undefined;
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

  /** Where a process of bench/processes/ lies, bundled. */
  script(name: string): string {
    return join(this.#directory, `${name}.mjs`);
  }

  /** Starts `node` with these arguments and waits for its line. */
  async start<Ready>(
    args: readonly string[],
    options: ConstructorParameters<typeof Child>[1] = {},
  ): Promise<Child<Ready>> {
    if (this.#closed) throw new Error("the stage is closed");
    const child = new Child<Ready>(args, options);
    this.#children.add(child);
    return await child.started();
  }

  async stop(child: Child): Promise<void> {
    await child.stop();
    this.#children.delete(child);
  }

  async flood(flood: Flood): Promise<FloodResult> {
    return (await this.#theClient()).ask("flood", flood);
  }

  async paced(paced: Paced): Promise<PacedResult[]> {
    return (await this.#theClient()).ask("paced", paced);
  }

  /** Ends all processes and removes all files. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#children].map((child) => child.stop()));
    rmSync(this.#directory, { recursive: true, force: true });
  }

  #theClient(): Promise<Child> {
    this.#client ??= this.start([this.script("load-generator")]);
    return this.#client;
  }
}
