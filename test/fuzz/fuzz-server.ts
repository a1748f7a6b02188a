// Serves one fuzzed world after another over a socket, and reports what each request cost and changed.
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { START } from "../support/double.ts";
import { temporaryDirectory } from "../support/process.ts";
import { createFuzzedWorld, type FuzzedWorld, type ResourceNames } from "../support/requests/fuzzed-world.ts";
import { TestHost } from "../support/test-host.ts";
import { PROBE_PATH } from "./hang-watch.ts";
import { CHANGED_HEADER, CPU_HEADER } from "./send.ts";

export type FuzzCommand = "next-world" | "stop";
/** Answer to `next-world`. */
export type FuzzReport = {
  readonly port: number;
  readonly names: ResourceNames;
  readonly rssBytes: number;
  /** Routes of the control API, as `GET /_sim/clock`. */
  readonly controlRoutes: readonly string[];
};

const { gc } = globalThis as { gc?: () => void };
let current: { world: FuzzedWorld; remove: () => void } | undefined;

const server = createAdaptorServer({
  async fetch(request, env) {
    if (request.url.endsWith(PROBE_PATH)) return new Response(null, { status: 204 });
    const { world } = current as { world: FuzzedWorld };
    const before = { cpu: process.cpuUsage(), seq: world.seq() };
    const response = await world.app.fetch(request, env);
    const { user, system } = process.cpuUsage(before.cpu);
    const headers = new Headers(response.headers);
    headers.set(CPU_HEADER, String(user + system));
    headers.set(CHANGED_HEADER, String(world.seq() - before.seq));
    if (world.bugs.length > 0) headers.set("x-fuzz-bug", encodeURIComponent(String(world.bugs.splice(0)[0])));
    return new Response(response.body, { status: response.status, headers });
  },
}) as Server;

async function nextWorld(): Promise<FuzzReport> {
  await endWorld();
  const directory = temporaryDirectory();
  const world = await createFuzzedWorld(directory.path, new TestHost(START).clock);
  current = { world, remove: directory.remove };
  gc?.();
  return {
    port: (server.address() as AddressInfo).port,
    names: world.names,
    rssBytes: process.memoryUsage.rss(),
    controlRoutes: [
      ...new Set(
        world.app.routes
          .filter(({ path, method }) => path.startsWith("/_sim/") && !path.includes("*") && method !== "ALL")
          .map(({ method, path }) => `${method} ${path}`),
      ),
    ],
  };
}

async function endWorld(): Promise<void> {
  const ending = current;
  current = undefined;
  await ending?.world.close();
  ending?.remove();
}

server.listen(0, "127.0.0.1", () => {
  process.on("message", async (command: FuzzCommand) => {
    if (command === "next-world") {
      process.send?.(await nextWorld());
      return;
    }
    await endWorld();
    server.closeAllConnections();
    server.close();
    process.disconnect();
  });
  process.send?.("listening");
});
