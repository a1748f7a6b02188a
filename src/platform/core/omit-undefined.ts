type OptionalKey<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** The fields that have a value, in the same order. Copies the object, so it is not for hot paths. */
export function omitUndefined<T extends object>(
  fields: T,
): { [K in Exclude<keyof T, OptionalKey<T>>]: T[K] } & { [K in OptionalKey<T>]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
