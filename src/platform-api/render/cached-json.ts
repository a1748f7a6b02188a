/**
 * The JSON of rows as lists show them, cached while everything in it is the same. Rows are replaced, never edited, so a
 * row needs no comparison. `shown` are the other rows and values in it, such as the usage up to now.
 */
export class CachedJson<Row extends object> {
  readonly #cached = new WeakMap<Row, { readonly shown: readonly unknown[]; readonly text: string }>();

  text(row: Row, shown: readonly unknown[], render: () => object): string {
    const cached = this.#cached.get(row);
    if (cached !== undefined && isEqual(cached.shown, shown)) return cached.text;
    const text = JSON.stringify(render());
    this.#cached.set(row, { shown, text });
    return text;
  }
}

/** A body that is a list of objects, each as JSON, and other fields. */
export class JsonList {
  readonly #property: string;
  readonly #texts: readonly string[];
  readonly #others: string;

  /** `others` are the fields in addition to the list; it must be a plain object. */
  constructor(property: string, texts: readonly string[], others?: object) {
    this.#property = property;
    this.#texts = texts;
    this.#others = others === undefined ? "{}" : JSON.stringify(others);
  }

  /** Compares cached texts by reference, so this takes no time for each character. */
  equals(other: JsonList): boolean {
    return (
      this.#property === other.#property &&
      this.#others === other.#others &&
      isEqual(this.#texts, other.#texts)
    );
  }

  toString(): string {
    const rest = this.#others === "{}" ? "}" : `,${this.#others.slice(1)}`;
    return `{${JSON.stringify(this.#property)}:[${this.#texts.join(",")}]${rest}`;
  }
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
