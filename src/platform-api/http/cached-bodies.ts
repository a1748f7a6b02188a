import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonBody } from "../render/json-body.ts";

const gzipped = promisify(gzip);
/** Size of all cached bodies together, with their compressed forms and the texts of their rows. */
const MAX_BYTES = 16 * 1024 ** 2;

/** The bytes of a body. Their tag and compressed form are computed on first use. */
export class CachedBody {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What was sent last. */
  json: JsonBody;
  #etag: string | undefined;
  #gzipped: Promise<Uint8Array<ArrayBuffer>> | undefined;
  #gzippedSize = 0;
  readonly #onGrowth: (bytes: number) => void;

  constructor(json: JsonBody, onGrowth: (bytes: number) => void) {
    this.json = json;
    this.bytes = new TextEncoder().encode(json.toString());
    this.#onGrowth = onGrowth;
  }

  /** Weak, because the compressed body has the same tag. */
  get etag(): string {
    this.#etag ??= `W/"${createHash("sha1").update(this.bytes).digest("base64url")}"`;
    return this.#etag;
  }

  gzipped(): Promise<Uint8Array<ArrayBuffer>> {
    this.#gzipped ??= gzipped(this.bytes).then((bytes) => {
      this.#gzippedSize = bytes.byteLength;
      this.#onGrowth(bytes.byteLength);
      return bytes;
    });
    return this.#gzipped;
  }

  /** The texts of rows, which `json` holds, have as many characters as the body. */
  get size(): number {
    return 2 * this.bytes.byteLength + this.#gzippedSize;
  }
}

/** The latest body of each URL. The oldest ones are removed first. */
export class CachedBodies {
  readonly #bodies = new Map<string, CachedBody>();
  #size = 0;

  /** The size of all bodies, in bytes. */
  get size(): number {
    return this.#size;
  }

  /** The cached body if it is still the same. */
  of(url: string, json: JsonBody): CachedBody {
    const cached = this.#bodies.get(url);
    if (cached?.json.equals(json)) {
      cached.json = json;
      return cached;
    }
    this.#forget(url);
    const body: CachedBody = new CachedBody(json, (bytes) => {
      if (this.#bodies.get(url) === body) this.#grow(bytes);
    });
    this.#bodies.set(url, body);
    this.#grow(url.length + body.size);
    return body;
  }

  #grow(bytes: number): void {
    this.#size += bytes;
    for (const oldest of this.#bodies.keys()) {
      if (this.#size <= MAX_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(url: string): void {
    const cached = this.#bodies.get(url);
    if (cached === undefined) return;
    this.#bodies.delete(url);
    this.#size -= url.length + cached.size;
  }
}
