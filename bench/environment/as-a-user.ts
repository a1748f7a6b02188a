import type { Child } from "./child.ts";
import { type BenchEnvironment, COMMAND } from "./environment.ts";

/** A server started with nothing beside it, as a user starts it. */
export type Started = Child<{ readonly control_url: string }>;

const BARE = `
const server = require("node:http").createServer((request, response) => response.end("{}"));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ control_url: "http://127.0.0.1:" + server.address().port })));
`;

export function serveAsUser(environment: BenchEnvironment, data: string): Promise<Started> {
  return environment.start([COMMAND, "serve", "--data", data, "--port", "0", "--json"], {
    hasChannel: false,
  });
}

/** The least that can be started: `node -e` with a server in it. */
export function bareAsUser(environment: BenchEnvironment): Promise<Started> {
  return environment.start(["-e", BARE], { hasChannel: false });
}

export async function firstAnswer({ ready }: Started): Promise<void> {
  const response = await fetch(`${ready.control_url}/health`);
  const body = await response.text();
  if (!response.ok) throw new Error(`/health: ${response.status} ${body}`);
}
