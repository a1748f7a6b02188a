import * as z from "zod";
import { ID_PATTERN, ID_RULE } from "../kernel/ids.ts";

// Fields that the imitated API and the control API share.

export const id = z.string().regex(ID_PATTERN, ID_RULE);

/** An ISO 8601 instant with `Z` or an offset, as milliseconds since 1970. */
export const instant = z.iso
  .datetime({ offset: true, error: "must be an ISO 8601 instant like 2026-01-31T12:00:00Z" })
  .transform((text) => Date.parse(text));

export function text(maxLength: number) {
  const rule = `must have 1 to ${maxLength} characters`;
  return z.string().min(1, rule).max(maxLength, rule);
}

export const keyName = text(64); // S

/** A string that `parse` understands; `rule` says what it must be. */
export function parsedText<T>(parse: (text: string) => T | undefined, rule: string) {
  return z.string().transform((text, context): T => {
    const value = parse(text);
    if (value !== undefined) return value;
    context.addIssue({ code: "custom", message: rule });
    return z.NEVER;
  });
}
