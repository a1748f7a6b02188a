import type { SimTime } from "../../kernel/time.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import type { ListedRow } from "./cached-json.ts";
import { stateOf } from "./world-state.ts";

export type BodyOptions = {
  /** Fields in addition to the rows; a plain object. */
  readonly fields?: object | undefined;
  /** When time alone changes which rows it has (exclusive; default: never). */
  readonly until?: SimTime | undefined;
  /** Whether the same rows would be read, if they are not rows of the world. */
  readonly hasSameRows?: ((later: LaterRead) => boolean) | undefined;
};

/** A read that may get the same body. */
type LaterRead = Pick<Transaction, "world" | "now" | "operations">;

/** A body that has rows as JSON, and other fields. It is the same until something happens, or time alone changes it. */
export class JsonBody {
  readonly #before: string;
  readonly #texts: readonly string[];
  readonly #after: string;
  readonly #state: object;
  readonly #from: SimTime;
  readonly #until: SimTime;
  readonly #hasSameRows: BodyOptions["hasSameRows"];

  /** `{ property: [rows], ...fields }`. */
  static list(
    transaction: Pick<Transaction, "world" | "now">,
    property: string,
    rows: readonly ListedRow[],
    options: BodyOptions = {},
  ): JsonBody {
    return new JsonBody(transaction, [`{${JSON.stringify(property)}:[`, "]"], rows, options);
  }

  /** `{ property: row, ...fields }`. */
  static object(
    transaction: Pick<Transaction, "world" | "now">,
    property: string,
    row: ListedRow,
    options: BodyOptions = {},
  ): JsonBody {
    return new JsonBody(transaction, [`{${JSON.stringify(property)}:`, ""], [row], options);
  }

  private constructor(
    { world, now }: Pick<Transaction, "world" | "now">,
    [before, after]: readonly [string, string],
    rows: readonly ListedRow[],
    { fields = {}, until = Number.POSITIVE_INFINITY, hasSameRows }: BodyOptions,
  ) {
    const others = JSON.stringify(fields);
    this.#before = before;
    this.#texts = rows.map(({ text }) => text);
    this.#after = after + (others === "{}" ? "}" : `,${others.slice(1)}`);
    this.#state = stateOf(world);
    this.#from = now;
    this.#until = rows.reduce((earliest, row) => Math.min(earliest, row.until), until);
    this.#hasSameRows = hasSameRows;
  }

  /** Whether the same request would get the same body. */
  isCurrent(later: LaterRead): boolean {
    const { world, now } = later;
    if (stateOf(world) !== this.#state || now < this.#from || now >= this.#until) return false;
    return this.#hasSameRows === undefined || this.#hasSameRows(later);
  }

  /** Compares cached texts by reference, so this takes no time for each character. */
  equals(other: JsonBody): boolean {
    if (this === other) return true;
    if (this.#before !== other.#before || this.#after !== other.#after) return false;
    if (this.#texts.length !== other.#texts.length) return false;
    for (let index = 0; index < this.#texts.length; index += 1)
      if (this.#texts[index] !== other.#texts[index]) return false;
    return true;
  }

  toString(): string {
    return `${this.#before}${this.#texts.join(",")}${this.#after}`;
  }
}
