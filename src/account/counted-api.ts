import type * as z from "zod";
import type { SimTime } from "../kernel/time.ts";
import { mismatch, type ServerApi } from "../ports/server-api.ts";
import { UserError } from "../ports/user-error.ts";

/** Counts the calls, and knows the time of the server. */
export class CountedApi implements ServerApi {
  readonly url: string;
  calls = 0;
  #serverTime: SimTime | undefined;
  readonly #api: ServerApi;

  constructor(api: ServerApi) {
    this.#api = api;
    this.url = api.url;
  }

  get serverTime(): SimTime {
    if (this.#serverTime === undefined)
      throw new UserError(
        `GET ${this.url}: the answer has no Date header, so the time of the server is unknown`,
      );
    return this.#serverTime;
  }

  async get(path: string) {
    this.calls += 1;
    const response = await this.#api.get(path);
    this.#serverTime = response.serverTime ?? this.#serverTime;
    return response;
  }

  getWithoutKey(path: string) {
    return this.#api.getWithoutKey(path);
  }

  call(): never {
    throw new Error("a pull only reads");
  }

  pause(ms: number) {
    return this.#api.pause(ms);
  }

  sanitize(text: string) {
    return this.#api.sanitize(text);
  }
}

/** The value with its type. Throws a `UserError` for a value of another type; `path` names the call. */
export function checked<T extends z.ZodType>(
  api: ServerApi,
  path: string,
  value: unknown,
  schema: T,
): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw mismatch(api, path, result.error.issues[0]);
}
