import { Command } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";

export function envCommand(): Command {
  return addTargetOptions(new Command("env"))
    .addOption(envOption("--api-key <key>", "API key to export (default: a new key)"))
    .addOption(jsonOption())
    .addHelpText("after", '\nExamples:\n  $ eval "$(standin env)"\n  $ neonctl projects list')
    .action(async (options: ServerTarget & { apiKey?: string; json?: boolean }) => {
      const server = await requireServer(options);
      const key =
        options.apiKey ??
        (await server.call<{ key: string }>("POST", "/api_keys", { key_name: "standin env" })).key;
      const variables = { NEON_API_HOST: server.apiUrl, NEON_API_KEY: key };
      if (options.json === true) return void print(`${JSON.stringify(variables)}\n`);
      for (const [name, value] of Object.entries(variables)) print(`export ${name}='${value}'\n`);
    });
}
