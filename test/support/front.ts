import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** What a front may do with an answer: change it, or hold it back for ever. */
type Passing = { readonly path: string; status: number; body: any; headers: Record<string, string>; held?: boolean };

export type Front = { readonly url: string; readonly seen: readonly { readonly method: string; readonly path: string }[] };

/** A server before another one, as its API would be if it had changed: `path` is what is behind the base URL. Ends with the test. */
export async function front(apiUrl: string, change: (passing: Passing) => void, asked = (path: string) => path): Promise<Front> {
  const seen: { method: string; path: string }[] = [];
  const server = createServer(async (request, response) => {
    const { method = "", path } = { method: request.method, path: pathOf(request) };
    seen.push({ method, path });
    const answer = await fetch(apiUrl + asked(path), { method, headers: { Authorization: request.headers.authorization ?? "" } });
    const passing: Passing = { path, status: answer.status, body: await answer.json(), headers: {} };
    change(passing);
    if (passing.held === true) return;
    response.writeHead(passing.status, { "Content-Type": "application/json", ...passing.headers }).end(JSON.stringify(passing.body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v2`, seen };
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.replace(/^\/api\/v2/, "");
}
