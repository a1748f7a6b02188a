import type { Child } from "./child.ts";
import { COMMAND, type Stage } from "./stage.ts";

/** A server started with nothing beside it, as a user starts it. */
export type Started = Child<{ readonly control_url: string }>;

const BARE = `
const server = require("node:http").createServer((request, response) => response.end("{}"));
server.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ control_url: "http://127.0.0.1:" + server.address().port })));
`;

export function serveAsUser(stage: Stage, data: string): Promise<Started> {
  return stage.start([COMMAND, "serve", "--data", data, "--port", "0", "--json"], { talks: false });
}

/** The least that can be started: `node -e` with a server in it. */
export function bareAsUser(stage: Stage): Promise<Started> {
  return stage.start(["-e", BARE], { talks: false });
}

export async function firstAnswer({ ready }: Started): Promise<void> {
  const response = await fetch(`${ready.control_url}/health`);
  const body = await response.text();
  if (!response.ok) throw new Error(`/health: ${response.status} ${body}`);
}
