/** An object of the world as the control API returns it: `renderObject` in `src/control-api/http/render-object.ts`. */
export type Rendered<T> = T extends readonly (infer Item)[]
  ? readonly Rendered<Item>[]
  : T extends object
    ? { readonly [K in keyof T as K extends string ? SnakeCase<K> : never]: RenderedProperty<K, T[K]> }
    : T;

type RenderedProperty<K, V> = K extends "settings" | "annotations"
  ? V
  : K extends "at" | `${string}At` | `until${string}` | `${string}Timestamp`
    ? V extends number
      ? string
      : Rendered<V>
    : Rendered<V>;

type SnakeCase<S extends string> = S extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : S;
