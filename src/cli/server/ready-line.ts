import type { OpenedWorlds } from "../../app/open-worlds.ts";
import { DEFAULT_DATA } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import type { ServeOptions } from "./serve-options.ts";

/**
 * Prints the ready line. On the first start, also prints the API key, which is not shown again, and first
 * commands.
 */
export function printReadyLine(
  { world, apiKey, settings, isNew }: OpenedWorlds,
  origin: string,
  options: ServeOptions,
): void {
  const apiUrl = `${origin}/api/v2`;
  if (options.json === true) {
    const ready = {
      event: "ready",
      pid: process.pid,
      api_url: apiUrl,
      control_url: `${origin}/_sim`,
      world: world.name,
      api_key: apiKey,
    };
    print(`${JSON.stringify(ready)}\n`);
    return;
  }
  print(
    `standin is ready: ${apiUrl} (control API: ${origin}/_sim, world: ${world.name}, seed: ${settings.seed})\n`,
  );
  if (!isNew || apiKey === undefined) return;
  const where = options.data === DEFAULT_DATA ? "" : ` --data ${options.data}`;
  const key = options.apiKey === undefined ? `\nYour API key (not shown again):\n\n  ${apiKey}\n` : "";
  print(`${key}
Try these commands:

  curl -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"project":{"name":"shop"}}' ${apiUrl}/projects
  npx standin status${where}
  npx standin clock advance 5m${where}

`);
}
