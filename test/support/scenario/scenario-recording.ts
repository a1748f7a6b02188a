import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { escapePlaceholders } from "../../../src/scenario/file/matrix.ts";
import { escapeReferences } from "../../../src/scenario/file/references.ts";
import type { AnyBody } from "../answers/api-response.ts";

type CallInput = { readonly method: string; readonly path: string; readonly body?: unknown };
type CallResponse = { readonly status: number; readonly body: AnyBody };
type Settings = {
  readonly seed?: number;
  readonly profile?: string;
  readonly plan?: string;
  readonly operations?: string;
  readonly durations?: string;
};

const recordings = new AsyncLocalStorage<ScenarioRecording>();

/** Records the requests to the doubles that are created meanwhile, as a scenario. */
export async function recordScenario(work: () => Promise<unknown>): Promise<ScenarioRecording> {
  const recording = new ScenarioRecording();
  await recordings.run(recording, work);
  return recording;
}

/** The current recording. */
export function currentRecording(): ScenarioRecording | undefined {
  return recordings.getStore();
}

/**
 * Steps that repeat the history of a world. Ids depend on the seed and the order only, so they are the same.
 */
export class ScenarioRecording {
  readonly #steps: object[] = [];
  #world: object | undefined;
  #lastRead: object | undefined;

  get hasSteps(): boolean {
    return this.#world !== undefined;
  }

  /** A double was created. A second one is the first one, reopened from its file. */
  doubleOpened({ seed = 1, profile, plan, operations, durations }: Settings): void {
    if (this.#world !== undefined) this.#steps.push({ restart: true });
    const given = Object.entries({ seed, profile, plan, operations, durations }).filter(
      ([, value]) => value !== undefined,
    );
    this.#world ??= Object.fromEntries(given);
  }

  /** Only the latest read is kept: it is what the property checked when it failed. */
  api({ method, path, body }: CallInput, key: string | undefined, { status }: CallResponse): void {
    const request = {
      ...(method === "GET" ? {} : { method }),
      path,
      ...given("body", body),
      ...given("key", key),
      status,
    };
    this.#lastRead = method === "GET" ? { request: escapeText(request) } : undefined;
    if (method !== "GET") this.#steps.push({ request: escapeText(request) });
  }

  sim({ method, path, body }: CallInput, response: CallResponse): void {
    if (method === "GET" || response.status >= 300) return;
    if (path.startsWith("/clock/advance")) this.#steps.push({ at: response.body.now });
    else this.#steps.push({ control: escapeText({ method, path, ...given("body", body) }) });
  }

  toString(): string {
    const steps = [...this.#steps, ...(this.#lastRead === undefined ? [] : [this.#lastRead])];
    return stringify(
      { version: 1, world: this.#world ?? {}, ...(steps.length === 0 ? { length: 0 } : { steps }) },
      { lineWidth: 140 },
    );
  }

  /** Writes it to a new file and returns the path. */
  write(name: string): string {
    const file = join(
      mkdtempSync(join(tmpdir(), "standin-property-")),
      `${name
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, "-")
        .slice(0, 60)}.yaml`,
    );
    writeFileSync(file, this.toString());
    return file;
  }
}

function given(key: string, value: unknown): object {
  return value === undefined ? {} : { [key]: value };
}

/** Escapes text that would be read as a matrix name or a reference. */
function escapeText<T>(value: T): T {
  return escapePlaceholders(escapeReferences(value));
}
