import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { JsonList } from "../render/cached-json.ts";

const gzipped = promisify(gzip);
/** Size of all cached bodies together. */
const MAX_BYTES = 16 * 1024 ** 2;

/** The bytes of a list. Their tag and compressed form are computed on first use. */
export class CachedBody {
  readonly list: JsonList;
  readonly bytes: Uint8Array<ArrayBuffer>;
  #etag: string | undefined;
  #gzipped: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(list: JsonList) {
    this.list = list;
    this.bytes = new TextEncoder().encode(list.toString());
  }

  /** Weak, because the compressed body has the same tag. */
  get etag(): string {
    this.#etag ??= `W/"${createHash("sha1").update(this.bytes).digest("base64url")}"`;
    return this.#etag;
  }

  gzipped(): Promise<Uint8Array<ArrayBuffer>> {
    this.#gzipped ??= gzipped(this.bytes);
    return this.#gzipped;
  }
}

/** The latest list of each URL. The oldest ones are removed first. */
export class CachedBodies {
  readonly #bodies = new Map<string, CachedBody>();
  #size = 0;

  /** The cached body if the list is still the same. */
  of(url: string, list: JsonList): CachedBody {
    const cached = this.#bodies.get(url);
    if (cached?.list.equals(list)) return cached;
    this.#forget(url);
    const body = new CachedBody(list);
    this.#bodies.set(url, body);
    this.#size += sizeOf(url, body);
    for (const oldest of this.#bodies.keys()) {
      if (this.#size <= MAX_BYTES) break;
      this.#forget(oldest);
    }
    return body;
  }

  #forget(url: string): void {
    const cached = this.#bodies.get(url);
    if (cached === undefined) return;
    this.#bodies.delete(url);
    this.#size -= sizeOf(url, cached);
  }
}

/** The compressed bytes, and the texts that a list shares with its rows, are not counted. */
function sizeOf(url: string, { bytes }: CachedBody): number {
  return url.length + bytes.byteLength;
}
