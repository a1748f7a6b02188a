import type { Child } from "./child.ts";
import { type BenchEnvironment, COMMAND } from "./environment.ts";

/** Started as a user starts it: without metrics and without an IPC channel. */
export type UninstrumentedServer = Child<{ readonly control_url: string }>;

const BASELINE = `
const server = require("node:http").createServer((request, response) => response.end("{}"));
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ control_url: "http://127.0.0.1:" + server.address().port }));
});
`;

export function startUninstrumented(
  environment: BenchEnvironment,
  data: string,
  more: readonly string[] = [],
): Promise<UninstrumentedServer> {
  return environment.start([COMMAND, "serve", "--data", data, "--port", "0", "--json", ...more], {
    hasChannel: false,
  });
}

/** `node -e` with a minimal HTTP server. */
export function startUninstrumentedBaseline(environment: BenchEnvironment): Promise<UninstrumentedServer> {
  return environment.start(["-e", BASELINE], { hasChannel: false });
}

export async function awaitFirstResponse({ ready }: UninstrumentedServer): Promise<void> {
  const response = await fetch(`${ready.control_url}/health`);
  const body = await response.text();
  if (!response.ok) throw new Error(`/health: ${response.status} ${body}`);
}
