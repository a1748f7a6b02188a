import type { IncomingMessage } from "node:http";
import type { RequestBody } from "../../http/body.ts";
import { bodyOf, type IncomingCall } from "../../http/request.ts";
import { MAX } from "../../input-limits/limits.ts";

/** What routing has found for a method and a URL. It depends on nothing else. */
export type KnownCall = {
  readonly method: string;
  readonly url: string;
  readonly routePath: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Record<string, string>;
  readonly loggedPath: string;
  /** Whether the route reads the body of a request. */
  readonly readsBody: boolean;
};

/** Reads a request as `Context` does. */
export class RepeatedCall<Known extends KnownCall> implements IncomingCall {
  readonly known: Known;
  readonly env: { readonly incoming: IncomingMessage };

  constructor(known: Known, incoming: IncomingMessage) {
    this.known = known;
    this.env = { incoming };
  }

  get req(): this {
    return this;
  }

  get method(): string {
    return this.known.method;
  }

  get url(): string {
    return this.known.url;
  }

  get loggedPath(): string {
    return this.known.loggedPath;
  }

  get routePath(): string {
    return this.known.routePath;
  }

  header(name: string): string | undefined {
    return this.env.incoming.headers[name] as string | undefined;
  }

  param(name: string): string | undefined {
    return this.known.params[name];
  }

  query(): Record<string, string> {
    return this.known.query;
  }

  /**
   * Calls `handle` with the body when it is complete; at once, without one, if the route does not read it. Never calls it
   * if the client ends the connection before.
   */
  withBody(handle: (input: RequestBody | undefined) => void): void {
    const { incoming } = this.env;
    const contentType = incoming.headers["content-type"];
    const length = Number(incoming.headers["content-length"] ?? 0);
    if (!this.known.readsBody) handle(undefined);
    else if (length === 0) handle(bodyOf(Buffer.alloc(0), contentType));
    else readBytes(incoming, length, (bytes) => handle(bodyOf(bytes, contentType)));
  }
}

/** Calls `handle` when all bytes have arrived. */
function readBytes(incoming: IncomingMessage, length: number, handle: (bytes: Buffer) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size === length) handle(chunks.length === 1 ? chunk : Buffer.concat(chunks));
  });
}

/**
 * Whether the body is one that is read before the key is checked. The framework must discard a body that nobody reads.
 */
export function hasSmallBody({ headers }: IncomingMessage, { readsBody }: KnownCall): boolean {
  if (headers["transfer-encoding"] !== undefined) return false;
  const length = headers["content-length"];
  return (
    length === undefined || (readsBody ? Number(length) <= MAX.httpBodyBeforeLogin : Number(length) === 0)
  );
}
