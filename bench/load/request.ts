/** `expected`: the status of the response; any other fails the benchmark. */
export type LoadRequest = {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly expected: number;
};

export type EncodedRequest = { readonly bytes: Buffer; readonly expected: number };

export function encode({ method, path, headers, body, expected }: LoadRequest, port: number): EncodedRequest {
  const text = body === undefined ? "" : JSON.stringify(body);
  const all: Record<string, string> = { Host: `127.0.0.1:${port}`, ...headers };
  if (body !== undefined)
    Object.assign(all, {
      "Content-Type": "application/json",
      "Content-Length": String(Buffer.byteLength(text)),
    });
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return { bytes: Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${text}`), expected };
}
