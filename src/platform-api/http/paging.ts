import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";

const INVALID_CURSOR = "not a cursor of this list in this order; omit it to start at the first page";

/**
 * A cursor holds its list and the position, in a stated order, after which a page begins. Clients treat it as
 * opaque.
 */
export function encodeCursor(list: string, position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...position])).toString("base64url");
}

/** The query parameter `cursor` of one list, decoded. Rejects cursors of other lists. */
export function cursorParameter<T extends readonly z.ZodType[]>(list: string, position: z.ZodTuple<T>) {
  return cursorOf((text) => decodeCursor(list, position, text));
}

/** The position in a cursor of this list; undefined for other text. */
export function decodeCursor<T extends readonly z.ZodType[]>(
  list: string,
  position: z.ZodTuple<T>,
  text: string,
): z.output<z.ZodTuple<T>> | undefined {
  return position.safeParse(decode(list, text)).data;
}

/** The query parameter `cursor` of a list whose cursors have another form. `parse` returns undefined for other text. */
export function cursorOf<T>(parse: (text: string) => T | undefined) {
  return z
    .string()
    .transform((text, context): T => {
      const parsed = parse(text);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: "custom", message: INVALID_CURSOR });
      return z.NEVER;
    })
    .optional();
}

/** Rejects a request whose cursor belongs to another list. */
export function invalidCursor(): never {
  return fail(badRequest(`cursor: ${INVALID_CURSOR}`));
}

/**
 * A position may begin with the owner and the order of its list. Rejects the request if it asks for others.
 */
export function checkCursor(position: readonly unknown[] | undefined, expected: readonly unknown[]): void {
  const isMismatch =
    position !== undefined && expected.some((part, index) => part !== undefined && part !== position[index]);
  if (isMismatch) invalidCursor();
}

function decode(list: string, text: string): unknown {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    return Array.isArray(value) && value[0] === list ? value.slice(1) : undefined;
  } catch {
    return undefined;
  }
}

/** A query parameter that is a whole number. */
export function integerParameter(minimum: number, maximum: number) {
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule);
}

/** The query parameter `limit`. */
export function limitParameter(maximum: number, defaultValue: number) {
  return integerParameter(1, maximum).default(defaultValue);
}
