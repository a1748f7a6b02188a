// Serves one fuzzed world after another over a socket, and reports what each request cost and changed.
import { cpSync } from "node:fs";
import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { START } from "../support/double/double.ts";
import { TestHost } from "../support/double/test-host.ts";
import { temporaryDirectory } from "../support/process/process.ts";
import {
  createFuzzedWorld,
  FuzzedApp,
  type FuzzedWorld,
  type ResourceNames,
} from "../support/requests/fuzzed-world.ts";
import { PROBE_PATH } from "./hang-watch.ts";
import { BUG_HEADER, CHANGED_HEADER, CPU_HEADER } from "./send.ts";

export type FuzzCommand = "next-world" | "collect-garbage" | "stop";
/** Answer to `next-world`, and to `collect-garbage`, which begins one as well. */
export type FuzzReport = {
  readonly port: number;
  readonly names: ResourceNames;
  readonly rssBytes: number;
  /** Routes of the control API, as `GET /_sim/clock`. */
  readonly controlRoutes: readonly string[];
};

const { gc } = globalThis as { gc?: () => void };
/** CPU time is read at most this often, because reading it takes as long as a part of a request. */
const READ_CPU_EVERY_MS = 4;
const fuzzed = new FuzzedApp();
let current: { world: Omit<FuzzedWorld, "names">; remove: () => void } | undefined;
let template: { path: string; remove: () => void; names: ResourceNames } | undefined;

/** Requests are handled one after another, so that CPU time and events are those of one request. */
let previous: Promise<void> = Promise.resolve();
let cpuReading = { at: performance.now(), usage: process.cpuUsage() };

const server = createAdaptorServer({
  async fetch(request, env) {
    if (request.url.endsWith(PROBE_PATH)) return new Response(null, { status: 204 });
    const before = previous;
    let end: () => void = () => undefined;
    previous = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    try {
      const { world } = current as NonNullable<typeof current>;
      // The next request runs what is due since the one before, such as an autosuspend whose delay was shortened.
      const seq = await world.settledSeq();
      const response = await world.app.fetch(request, env);
      const { outgoing } = env as { outgoing: ServerResponse };
      const cpuUs = cpuSinceReading();
      if (cpuUs !== undefined) outgoing.setHeader(CPU_HEADER, cpuUs);
      outgoing.setHeader(CHANGED_HEADER, world.seq() - seq);
      const [bug] = world.bugs.splice(0);
      if (bug !== undefined) outgoing.setHeader(BUG_HEADER, encodeURIComponent(String(bug)));
      return response;
    } finally {
      end();
    }
  },
}) as Server;

/** CPU time of the last requests together, at least that of the last one; `undefined` if it was short. */
function cpuSinceReading(): number | undefined {
  const at = performance.now();
  if (at - cpuReading.at < READ_CPU_EVERY_MS) return undefined;
  const { user, system } = process.cpuUsage(cpuReading.usage);
  cpuReading = { at, usage: process.cpuUsage() };
  return user + system;
}

async function nextWorld(): Promise<FuzzReport> {
  await endWorld();
  template ??= await makeTemplate();
  const directory = temporaryDirectory();
  cpSync(template.path, directory.path, { recursive: true });
  const world = await fuzzed.open(directory.path, { hostClock: new TestHost(START).clock });
  current = { world, remove: directory.remove };
  return {
    port: (server.address() as AddressInfo).port,
    names: template.names,
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

async function makeTemplate(): Promise<NonNullable<typeof template>> {
  const directory = temporaryDirectory();
  const world = await createFuzzedWorld(directory.path, new TestHost(START).clock);
  await world.close();
  return { ...directory, names: world.names };
}

async function endWorld(): Promise<void> {
  const ending = current;
  current = undefined;
  await ending?.world.close();
  ending?.remove();
}

async function stop(): Promise<void> {
  await endWorld();
  template?.remove();
  process.exit();
}

server.listen(0, "127.0.0.1", () => {
  process.on("message", async (command: FuzzCommand) => {
    if (command === "stop") return stop();
    if (command === "collect-garbage") gc?.();
    process.send?.(await nextWorld());
  });
  // Ctrl-C reaches both processes. The other one stops this one after its last world.
  process.on("SIGINT", () => undefined);
  process.once("disconnect", stop);
  process.send?.("listening");
});
