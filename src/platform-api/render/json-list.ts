import type { SimTime } from "../../kernel/time.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import type { ListedRow } from "./cached-json.ts";
import { stateOf } from "./world-state.ts";

export type ListOptions = {
  /** Fields in addition to the list; a plain object. */
  readonly fields?: object | undefined;
  /** When time alone changes which rows it has (exclusive; default: never). */
  readonly until?: SimTime | undefined;
  /** Whether the same rows would be read, if they are not rows of the world. */
  readonly hasSameRows?: ((transaction: Transaction) => boolean) | undefined;
};

/** A body that is a list of objects, each as JSON, and other fields. */
export class JsonList {
  readonly #property: string;
  readonly #texts: readonly string[];
  readonly #others: string;
  readonly #state: object;
  readonly #from: SimTime;
  readonly #until: SimTime;
  readonly #hasSameRows: ListOptions["hasSameRows"];

  constructor(
    { world, now }: Pick<Transaction, "world" | "now">,
    property: string,
    rows: readonly ListedRow[],
    { fields, until = Number.POSITIVE_INFINITY, hasSameRows }: ListOptions = {},
  ) {
    this.#property = property;
    this.#texts = rows.map(({ text }) => text);
    this.#others = fields === undefined ? "{}" : JSON.stringify(fields);
    this.#state = stateOf(world);
    this.#from = now;
    this.#until = rows.reduce((earliest, row) => Math.min(earliest, row.until), until);
    this.#hasSameRows = hasSameRows;
  }

  /** Whether the same request would get the same list. */
  isCurrent(transaction: Transaction): boolean {
    const { world, now } = transaction;
    if (stateOf(world) !== this.#state || now < this.#from || now >= this.#until) return false;
    return this.#hasSameRows === undefined || this.#hasSameRows(transaction);
  }

  /** Compares cached texts by reference, so this takes no time for each character. */
  equals(other: JsonList): boolean {
    if (this === other) return true;
    if (this.#property !== other.#property || this.#others !== other.#others) return false;
    if (this.#texts.length !== other.#texts.length) return false;
    for (let index = 0; index < this.#texts.length; index += 1)
      if (this.#texts[index] !== other.#texts[index]) return false;
    return true;
  }

  toString(): string {
    const rest = this.#others === "{}" ? "}" : `,${this.#others.slice(1)}`;
    return `{${JSON.stringify(this.#property)}:[${this.#texts.join(",")}]${rest}`;
  }
}
