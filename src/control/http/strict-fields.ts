import * as z from "zod";
import { nearest } from "../../platform/core/text.ts";

/** An object of these fields and no others; one that is unknown is refused with the known name that is nearest. */
export function strict<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.map((key) => unknownName("field", key, known)).join("; ")}; there ${known.length === 0 ? "is none" : `are ${known.join(", ")}`}`
        : undefined,
  });
}

/** One name, a list of names, or `*` for all of them, which is `undefined`. */
export function names<T extends string>(what: string, known: readonly T[]) {
  return z
    .union([z.string(), z.array(z.string()).min(1)], { error: `must be the name of an ${what}, a list of names, or *` })
    .transform((asked, context): readonly T[] | undefined => {
      if (asked === "*") return undefined;
      const list = [asked].flat() as T[];
      const wrong = list.filter((name) => !known.includes(name));
      for (const name of wrong) context.addIssue({ code: "custom", message: unknownName(what, name, known) });
      return wrong.length === 0 ? list : z.NEVER;
    });
}

export function unknownName(what: string, name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return `there is no ${what} "${name}"${near === undefined ? "" : `; did you mean "${near}"?`}`;
}

/** Without what has no value. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}
