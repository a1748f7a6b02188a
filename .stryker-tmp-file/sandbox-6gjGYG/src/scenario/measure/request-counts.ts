/** A response to a request of this scenario. */
// @ts-nocheck

export type AnsweredRequest = { readonly method: string; readonly status: number; readonly code: string };

/** Counts of responses by method, status and code. */
export class RequestCounts {
  /** Unexpected responses of 400 or more. */
  errors = 0;
  readonly #counts = new Map<string, { readonly request: AnsweredRequest; count: number }>();

  add(request: AnsweredRequest, isExpected: boolean): void {
    if (request.status >= 400 && !isExpected) this.errors += 1;
    const key = `${request.method} ${request.status} ${request.code}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { request, count: 1 });
    else known.count += 1;
  }

  /** Number of responses that match every filter. */
  count(where: Readonly<Record<string, string | number>>): number {
    const matches = (request: AnsweredRequest) =>
      Object.entries(where).every(
        ([key, expected]) => String(request[key as keyof AnsweredRequest]) === String(expected),
      );
    return [...this.#counts.values()].reduce(
      (sum, { request, count }) => sum + (matches(request) ? count : 0),
      0,
    );
  }
}
