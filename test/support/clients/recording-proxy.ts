import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { KNOWN_OPERATIONS } from "../../../src/platform-api/coverage/client-operations.ts";

// A literal path segment takes precedence over a parameter.
const PATTERNS = [...KNOWN_OPERATIONS]
  .sort((a, b) => a.path.split("{").length - b.path.split("{").length)
  .map(({ operationId, method, path }) => ({
    operationId,
    method,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));

/** A proxy between a client and the API that records the operations called with success. */
export class RecordingProxy {
  readonly url: string;
  readonly #server: Server;
  readonly #operations: string[];

  private constructor(server: Server, path: string, operations: string[]) {
    this.#server = server;
    this.#operations = operations;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  }

  static async inFrontOf(apiUrl: string): Promise<RecordingProxy> {
    const { hostname, port, pathname } = new URL(apiUrl);
    const operations: string[] = [];
    const server = createServer((incoming, outgoing) => {
      const { method = "", url = "", headers } = incoming;
      const onward = request({ hostname, port, path: url, method, headers }, (response) => {
        const status = response.statusCode ?? 0;
        // Uploads by presigned URLs are no calls of the API.
        if (status < 300 && url.startsWith(pathname))
          operations.push(operationOf(method, url.slice(pathname.length)));
        outgoing.writeHead(status, response.headers);
        response.pipe(outgoing);
      });
      onward.on("error", () => outgoing.destroy());
      incoming.pipe(onward);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return new RecordingProxy(server, pathname, operations);
  }

  /** The operations since the last call of this function. */
  take(): readonly string[] {
    return this.#operations.splice(0);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

function operationOf(method: string, pathAndQuery: string): string {
  const path = pathAndQuery.split("?")[0] ?? "";
  const found = PATTERNS.find((candidate) => candidate.method === method && candidate.pattern.test(path));
  return found?.operationId ?? `${method} ${path}`;
}
