/** The rows of one index entry, in the order in which they joined it. */
export interface Rows<T> {
  readonly size: number;
  keys(): Iterable<string>;
  values(): Iterable<T>;
  /** A copy, for callers that change the table while they iterate. */
  toArray(): T[];
}

/** The rows of one index entry by a number that is unique in it and never changes, such as their creation. */
export interface OrderedRows<T> extends Rows<T> {
  /** The rows with a larger number, ascending. The cost does not depend on the rows before them. */
  after(order: number): Iterable<T>;
  /** The rows with a smaller number, descending. */
  before(order: number): Iterable<T>;
}
