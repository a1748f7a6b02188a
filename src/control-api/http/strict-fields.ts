import * as z from "zod";
import { closestMatch } from "../../kernel/text.ts";

/** An object with only these fields. An unknown field is an error that suggests the closest known name. */
export function strict<S extends z.core.$ZodLooseShape>(shape: S) {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `${issue.keys.map((key) => unknownName("field", key, known)).join("; ")}; ${known.length === 0 ? "none is allowed" : `expected ${known.join(", ")}`}`
        : undefined,
  });
}

/** One name, a list of names, or `*`, which means all and parses to `undefined`. */
export function nameListField<T extends string>(what: string, known: readonly T[]) {
  return z
    .union([z.string(), z.array(z.string()).min(1)], {
      error: `must be the name of an ${what}, a list of names, or *`,
    })
    .transform((input, context): readonly T[] | undefined => {
      if (input === "*") return undefined;
      const list = [input].flat() as T[];
      const unknownNames = list.filter((name) => !known.includes(name));
      for (const name of unknownNames)
        context.addIssue({ code: "custom", message: unknownName(what, name, known) });
      return unknownNames.length === 0 ? list : z.NEVER;
    });
}

export function unknownName(what: string, name: string, known: Iterable<string>): string {
  const suggestion = closestMatch(name, known);
  return `there is no ${what} "${name}"${suggestion === undefined ? "" : `; did you mean "${suggestion}"?`}`;
}
