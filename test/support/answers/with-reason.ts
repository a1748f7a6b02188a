/** The beginning of the platform's messages of bad requests. */
const FRAME = /^invalid request: (operation \w+: decode (params|request): )?(decode application\/json: )?/;
/** Statuses whose hints are for users of a manual clock. */
const RETRIED: ReadonlySet<number> = new Set([423, 429]);

/**
 * The body of an error of the platform API, with the reason that only headers have: tests say why a request is refused.
 * `test/behaviour/http/published-errors.test.ts` tests the bodies as clients get them.
 */
export function withReason<Body>(
  status: number,
  header: (name: string) => string | null | undefined,
  body: Body,
): Body {
  const code = header("x-standin-code");
  if (code === null || code === undefined || typeof body !== "object" || body === null) return body;
  // Some refusals have a body of their own, without a code.
  if (!("code" in body)) return body;
  const { message = "" } = body as { message?: string };
  const hint = RETRIED.has(status) ? undefined : header("x-standin-hint");
  if (!("message" in body)) return { ...body, code };
  const plain = message.replace(FRAME, "");
  // If the request cannot be decoded, the hint contains the whole reason.
  const isComplete = plain !== message && hint;
  return { ...body, code, message: isComplete ? hint : hint ? `${plain}: ${hint}` : plain };
}
