import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { escapePlaceholders } from "../../src/scenario/file/matrix.ts";
import { escapeReferences } from "../../src/scenario/file/references.ts";

type CallInput = { readonly method: string; readonly path: string; readonly body?: unknown };
type CallAnswer = { readonly status: number; readonly body: any };
type Settings = {
  readonly seed?: number;
  readonly profile?: string;
  readonly plan?: string;
  readonly operations?: string;
};

const recordings = new AsyncLocalStorage<ScenarioRecording>();

/** What doubles that are made meanwhile are asked, as a scenario. */
export async function recordScenario(work: () => Promise<unknown>): Promise<ScenarioRecording> {
  const recording = new ScenarioRecording();
  await recordings.run(recording, work);
  return recording;
}

/** The recording that is going on, if one is. */
export function currentRecording(): ScenarioRecording | undefined {
  return recordings.getStore();
}

/** Steps that make a world go the same way again. Ids come from the seed and the order, so they are the same in it. */
export class ScenarioRecording {
  readonly #steps: object[] = [];
  #world: object | undefined;
  #lastRead: object | undefined;

  get hasSteps(): boolean {
    return this.#world !== undefined;
  }

  /** A double was made; a second one is the first one, opened again from its file. */
  doubleOpened({ seed = 1, profile, plan, operations }: Settings): void {
    if (this.#world !== undefined) this.#steps.push({ restart: true });
    const given = Object.entries({ seed, profile, plan, operations }).filter(
      ([, value]) => value !== undefined,
    );
    this.#world ??= Object.fromEntries(given);
  }

  /** Of reads, only the newest is kept: it is what a property looked at when it failed. */
  api({ method, path, body }: CallInput, key: string | undefined, { status }: CallAnswer): void {
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

  sim({ method, path, body }: CallInput, answer: CallAnswer): void {
    if (method === "GET" || answer.status >= 300) return;
    if (path.startsWith("/clock/advance")) this.#steps.push({ at: answer.body.now });
    else this.#steps.push({ control: escapeText({ method, path, ...given("body", body) }) });
  }

  toString(): string {
    const steps = [...this.#steps, ...(this.#lastRead === undefined ? [] : [this.#lastRead])];
    return stringify(
      { version: 1, world: this.#world ?? {}, ...(steps.length === 0 ? { length: 0 } : { steps }) },
      { lineWidth: 140 },
    );
  }

  /** Writes it to a file of its own; gives its path. */
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

/** What looks like a name of a matrix, or refers to something, does neither here. */
function escapeText<T>(value: T): T {
  return escapePlaceholders(escapeReferences(value));
}
