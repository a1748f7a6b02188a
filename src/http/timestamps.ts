import type { SimTime } from "../kernel/time.ts";

/** S: timestamps of the API are ISO 8601 in UTC with whole seconds, like `2022-12-03T15:37:07Z`. */
export function timestamp(at: SimTime): string {
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
}

/** An instant in a cursor, with microseconds like `2022-12-03T15:37:07.123456Z`. */
export function exactTimestamp(at: SimTime, microseconds = 0): string {
  return new Date(at).toISOString().replace("Z", `${String(microseconds).padStart(3, "0")}Z`);
}

/** The `Date` header follows the world's clock. It has whole seconds, so it is formatted once a second. */
export class DateHeader {
  #second = Number.NaN;
  #text = "";

  at(now: SimTime): string {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(now).toUTCString();
    }
    return this.#text;
  }
}
