import { setImmediate as nextTurn } from "node:timers/promises";
import type { World } from "../../platform/world/world.ts";
import type { SecretBox } from "../secret-box.ts";
import type { MovedSecret } from "./world-move.ts";

/** Secrets that are encrypted or decrypted between two turns: about 3 ms of work. */
const SECRETS_PER_TURN = 500;

/**
 * The secrets of a world that moves, as text. All are read while the world is in service, so that at the end of its
 * move only those are left that have changed since.
 */
export class DepartingSecrets {
  readonly #secrets: World["secrets"];
  readonly #box: SecretBox;
  /** The stored values of the secrets that have been read. */
  readonly #read = new Map<string, string>();

  constructor({ secrets }: World, box: SecretBox) {
    this.#secrets = secrets;
    this.#box = box;
  }

  async readAll(): Promise<readonly MovedSecret[]> {
    const all: MovedSecret[] = [];
    for await (const portion of inTurns(this.#secrets.toArray())) all.push(...this.#open(portion));
    return all;
  }

  /** The secrets that are new, or have changed, since they were read. */
  readChanged(): readonly MovedSecret[] {
    return this.#open([...this.#secrets.values()].filter(({ id, value }) => this.#read.get(id) !== value));
  }

  /** Omits secrets that were encrypted with the key of another directory, which cannot be read here. */
  #open(rows: readonly MovedSecret[]): MovedSecret[] {
    return rows.flatMap(({ id, value }) => {
      this.#read.set(id, value);
      const secret = this.#box.open(id, value);
      return secret === undefined ? [] : [{ id, value: secret }];
    });
  }
}

/** The secrets of a world that arrives, encrypted with the key of this directory. */
export class ArrivingSecrets {
  readonly #sealed = new Map<string, string>();
  readonly #box: SecretBox;

  constructor(box: SecretBox) {
    this.#box = box;
  }

  async seal(secrets: readonly MovedSecret[]): Promise<void> {
    for await (const portion of inTurns(secrets)) this.#seal(portion);
  }

  /** Replaces the secrets of the world. `changed`: secrets that have changed since the others were encrypted. */
  replace({ secrets }: World, changed: readonly MovedSecret[]): void {
    this.#seal(changed);
    for (const { id } of secrets.toArray()) {
      const value = this.#sealed.get(id);
      if (value !== undefined) secrets.set({ id, value });
    }
  }

  #seal(secrets: readonly MovedSecret[]): void {
    for (const { id, value } of secrets) this.#sealed.set(id, this.#box.seal(id, value));
  }
}

/** The rows in portions. Others run in between. */
async function* inTurns<T>(rows: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let from = 0; from < rows.length; from += SECRETS_PER_TURN) {
    if (from > 0) await nextTurn();
    yield rows.slice(from, from + SECRETS_PER_TURN);
  }
}
