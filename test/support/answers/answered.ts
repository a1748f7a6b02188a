/**
 * The parsed JSON of an answer, as tests read it. Every field of the type can be read, whether or not it is optional,
 * and of a union the fields of all its members. A missing value fails the test by itself; a field that no answer of
 * this type has does not compile.
 */
export type Answered<T> = unknown extends T
  ? T
  : [Extract<T, object>] extends [never]
    ? Exclude<T, Nothing>
    : AnsweredObject<Extract<T, object>>;

// biome-ignore lint/suspicious/noConfusingVoidType: the public client's type of an answer without a body
type Nothing = null | undefined | void;

type AnsweredObject<O> = [Extract<O, List>] extends [never]
  ? Fields<O>
  : [Exclude<O, List>] extends [never]
    ? Listed<Answered<ItemsOf<O>>>
    : Listed<Answered<ItemsOf<Extract<O, List>>>> & Fields<Exclude<O, List>>;

type List = readonly unknown[];
type ItemsOf<O> = O extends readonly (infer Item)[] ? Item : never;
type Fields<O> = [KnownKey<O>] extends [never]
  ? { readonly [key: string]: Answered<O[keyof O]> }
  : { readonly [K in KnownKey<O>]: Answered<ValueOf<O, K>> };

/** The keys of all members of a union, without index signatures. */
type KnownKey<O> = O extends unknown ? keyof WithoutIndex<O> : never;
type ValueOf<O, K> = O extends unknown ? (K extends keyof WithoutIndex<O> ? O[K & keyof O] : never) : never;
type WithoutIndex<O> = { [K in keyof O as string extends K ? never : K]: O[K] };

/** A list in an answer. Its first items, and those that are found, can be read without a check. */
export interface Listed<Item> extends Array<Item> {
  0: Item;
  1: Item;
  2: Item;
  3: Item;
  4: Item;
  5: Item;
  at(index: number): Item;
  find(predicate: (item: Item, index: number, all: Item[]) => unknown): Item;
  findLast(predicate: (item: Item, index: number, all: Item[]) => unknown): Item;
  filter<Kept extends Item>(
    predicate: (item: Item, index: number, all: Item[]) => item is Kept,
  ): Listed<Kept>;
  filter(predicate: (item: Item, index: number, all: Item[]) => unknown): Listed<Item>;
  map<Result>(change: (item: Item, index: number, all: Item[]) => Result): Listed<Result>;
  slice(from?: number, to?: number): Listed<Item>;
}
