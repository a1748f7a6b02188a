/** The fields that cannot be undefined as they are; the others as optional fields without undefined. */
type OmitUndefined<T> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K];
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/**
 * A copy without the fields whose value is undefined, in the same order. JSON drops such fields anyway;
 * events, stored rows and `exactOptionalPropertyTypes` tell an absent field from an undefined one.
 */
export function omitUndefined<T extends object>(fields: T): OmitUndefined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
