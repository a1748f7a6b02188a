import type { Context } from "hono";
import { MAX } from "../input-limits/limits.ts";
import { readLimitedBytes } from "./body.ts";
import { badRequest } from "./errors.ts";
import { fail, tooLarge } from "./request.ts";

const FORM = /^multipart\/form-data\s*;/i;

/**
 * The fields of a form; a file is its bytes. `admit` is asked before more is read than anyone may send. Without it,
 * nothing is returned, and the authentication that follows refuses the request.
 */
export async function readForm(
  context: Context,
  admit: () => Promise<boolean>,
): Promise<Readonly<Record<string, string | Uint8Array>> | undefined> {
  const contentType = context.req.header("content-type") ?? "";
  const limits = { bytes: MAX.formBody, smallBytes: MAX.httpBodyBeforeLogin, admit };
  const { bytes, refusal } = await readLimitedBytes(context, limits).catch(() =>
    fail(badRequest("the request body ended before it was complete")),
  );
  if (refusal === "too large" && (await admit())) return fail(tooLarge(MAX.formBody));
  if (bytes === undefined || !(await admit())) return undefined;
  if (!FORM.test(contentType))
    return fail(badRequest(`Content-Type: expected multipart/form-data, got "${contentType}"`));
  const form = await new Response(new Uint8Array(bytes), { headers: { "Content-Type": contentType } })
    .formData()
    .catch(() => fail(badRequest("the request body is not a valid form")));
  const fields: Record<string, string | Uint8Array> = Object.create(null);
  for (const [name, value] of form.entries()) {
    if (fields[name] !== undefined) fail(badRequest(`${name}: is given more than once`));
    fields[name] = typeof value === "string" ? value : new Uint8Array(await value.arrayBuffer());
  }
  return { ...fields };
}
