import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { OpenedWorlds } from "../../app/open-worlds.ts";
import { PACKAGE_ROOT } from "../../app/package-root.ts";
import { DEFAULT_DATA } from "../../worlds/directory-layout.ts";
import type { ClockReading } from "../../worlds/world-handle.ts";
import { print } from "../terminal/print.ts";
import type { ServeOptions } from "./options/serve-options.ts";

/**
 * Prints the ready line and the clock. On the first start, also prints the API key, which is not shown again,
 * and first commands; on later starts, how to get a key.
 */
export function printReadyLine(
  { world, apiKey, settings, isNew }: OpenedWorlds,
  clock: ClockReading,
  origin: string,
  postgresUrl: string | undefined,
  options: ServeOptions,
): void {
  const apiUrl = `${origin}/api/v2`;
  const consoleUrl = options.console !== "off" ? `${origin}/` : undefined;
  const now = new Date(clock.now).toISOString();
  if (options.json === true) {
    const ready = {
      event: "ready",
      pid: process.pid,
      api_url: apiUrl,
      control_url: `${origin}/_sim`,
      console_url: consoleUrl,
      postgres_url: postgresUrl,
      world: world.name,
      cell: options.cell,
      clock: clockMode(clock),
      now,
      api_key: apiKey,
    };
    print(`${JSON.stringify(ready)}\n`);
    return;
  }
  print(
    `standin is ready: ${apiUrl} (control API: ${origin}/_sim, world: ${world.name}, seed: ${settings.seed})\n${consoleUrl === undefined ? "" : `console: ${consoleUrl}\n`}${postgresUrl === undefined ? "" : `Postgres: ${postgresUrl}\n`}clock: ${clockMode(clock)}, ${now}\n`,
  );
  const command = commandName();
  const where = options.data === DEFAULT_DATA ? "" : ` --data ${options.data}`;
  if (!isNew || apiKey === undefined) {
    print(
      `API key: the one of the first start, or a new one from ${command} keys create <name>${where}, or eval "$(${command} env${where})"\n`,
    );
    return;
  }
  const key = options.apiKey === undefined ? `\nYour API key (not shown again):\n\n  ${apiKey}\n` : "";
  print(`${key}
Try these commands:

  curl -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"project":{"name":"shop"}}' ${apiUrl}/projects
  ${command} status${where}
  ${command} clock advance 5m${where}

`);
}

function clockMode({ mode, factor }: ClockReading): string {
  return mode === "scaled" ? `${factor}x` : mode;
}

/** How the user can run the command: from a clone, or as a dependency of a project. */
function commandName(): string {
  const inClone = join(PACKAGE_ROOT, "bin", "standin");
  if (!existsSync(inClone)) return "npx standin";
  const path = relative(process.cwd(), inClone);
  return path.startsWith("..") ? inClone : `./${path}`;
}
