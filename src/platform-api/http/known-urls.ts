import type { IncomingMessage } from "node:http";
import type { Context } from "hono";

/** Characters. Longer URLs are rarely repeated. */
const LONGEST_URL = 1_000;

/** Half of the number of URLs that are known. */
const MOST_RECENT = 500;

/**
 * What is known of a method, a host and a URL. The one that was used last is forgotten last, approximately: each that was
 * used since the last `MOST_RECENT` new ones is known.
 */
export class KnownUrls<T> {
  #recent = new Map<string, T>();
  /** The recent ones until `#recent` was full the last time. */
  #earlier = new Map<string, T>();

  get(incoming: IncomingMessage): T | undefined {
    const key = keyOf(incoming);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const earlier = this.#earlier.get(key);
    if (earlier !== undefined) this.#add(key, earlier);
    return earlier;
  }

  /** Whether it is known, without being a use. */
  has(incoming: IncomingMessage): boolean {
    const key = keyOf(incoming);
    return this.#recent.has(key) || this.#earlier.has(key);
  }

  set(incoming: IncomingMessage, value: T): void {
    this.#add(keyOf(incoming), value);
  }

  #add(key: string, value: T): void {
    if (this.#recent.size === MOST_RECENT) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(key, value);
    this.#earlier.delete(key);
  }
}

/** The message of a request whose URL can be known; `undefined`: it is long, or another surface has passed the request on. */
export function knowableMessage({ env, req: { url } }: Context): IncomingMessage | undefined {
  const { incoming } = (env ?? {}) as { readonly incoming?: IncomingMessage };
  if (incoming === undefined || url.length > LONGEST_URL) return undefined;
  return url === `http://${incoming.headers.host}${incoming.url}` ? incoming : undefined;
}

function keyOf({ method, headers, url }: IncomingMessage): string {
  // Neither a method nor a URL has a space, so no two triples have the same key.
  return `${method} ${url} ${headers.host}`;
}
