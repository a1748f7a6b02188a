import * as z from "zod";
import { badRequest } from "../../http/errors.ts";
import { fail } from "../../http/request.ts";

const NEVER_GIVEN = "not a cursor that this list has given, in this order; leave it out to begin at the first page";

/** A cursor names the place in a stated order after which a page begins. It is opaque to callers and says what it is for. */
export function encodeCursor(list: string, place: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify([list, ...place])).toString("base64url");
}

/** The query parameter `cursor` of one list, decoded; refuses what this list never gave. */
export function cursorOf<T extends readonly z.ZodType[]>(list: string, place: z.ZodTuple<T>) {
  return z
    .string()
    .transform((text, context) => {
      const parsed = place.safeParse(decode(list, text));
      if (parsed.success) return parsed.data;
      context.addIssue({ code: "custom", message: NEVER_GIVEN });
      return z.NEVER;
    })
    .optional();
}

/** A place may begin with whose list it is in, and in which order: ends a call that asks for another one. */
export function checkPlace(place: readonly unknown[] | undefined, asked: readonly unknown[]): void {
  const isOther = place !== undefined && asked.some((one, index) => one !== undefined && one !== place[index]);
  if (isOther) fail(badRequest(`cursor: ${NEVER_GIVEN}`));
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
export function integerOf(minimum: number, maximum: number) {
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule);
}

/** The query parameter `limit`. */
export function limitOf(maximum: number, byDefault: number) {
  return integerOf(1, maximum).default(byDefault);
}
