import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** An answer that a proxy may change or hold back forever. */
type InterceptedResponse = {
  readonly path: string;
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a changed API answers what no type allows
  body: any;
  headers: Record<string, string>;
  isHeld?: boolean;
};

export type RewritingProxy = {
  readonly url: string;
  readonly requests: readonly { readonly method: string; readonly path: string }[];
};

/** A proxy that imitates a changed API. `path` is the path after the base URL. It is closed with the test. */
export async function startRewritingProxy(
  apiUrl: string,
  change: (intercepted: InterceptedResponse) => void,
  rewritePath = (path: string) => path,
): Promise<RewritingProxy> {
  const requests: { method: string; path: string }[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", path } = { method: request.method, path: pathOf(request) };
    requests.push({ method, path });
    const upstream = await fetch(apiUrl + rewritePath(path), {
      method,
      headers: { Authorization: request.headers.authorization ?? "" },
    });
    const intercepted: InterceptedResponse = {
      path,
      status: upstream.status,
      body: await upstream.json(),
      headers: {},
    };
    change(intercepted);
    if (intercepted.isHeld === true) return;
    response
      .writeHead(intercepted.status, { "Content-Type": "application/json", ...intercepted.headers })
      .end(JSON.stringify(intercepted.body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`, requests };
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.replace(/^\/api\/v2/, "");
}
