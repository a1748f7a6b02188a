// @ts-nocheck
import { Command } from "commander";
import { addTargetOptions, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { integerParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";

type KeyOptions = ServerTarget & { account?: string; json?: boolean };

/** Keys are managed through the running server, or directly in the file of the world if none is running. */
export function keysCommand(): Command {
  const keys = new Command("keys").addHelpText(
    "after",
    `
Examples:
  $ standin keys create ci
  $ standin keys list
  $ standin keys revoke 3`,
  );
  const accountOption = () => envOption("--account <id>", "account of the key (default: the first account)");
  addTargetOptions(
    keys
      .command("create <name>")
      .description("create a key and print it; it is not shown again")
      .addHelpText(
        "after",
        "\nExamples:\n  $ standin keys create ci\n  $ standin keys create ci --account acme --json",
      ),
  )
    .addOption(accountOption())
    .addOption(jsonOption())
    .action(async (name: string, options: KeyOptions) => {
      const key = await withControlApi(options, (call) =>
        callRoute(call, "POST /api_keys", { body: { key_name: name, account_id: options.account } }),
      );
      print(options.json === true ? `${JSON.stringify(key)}\n` : `${key.key}\n`);
    });
  addTargetOptions(
    keys
      .command("list")
      .description("list the valid keys, without their secrets")
      .addHelpText("after", "\nExamples:\n  $ standin keys list\n  $ standin keys list --account acme"),
  )
    .addOption(accountOption())
    .addOption(jsonOption())
    .action(async (options: KeyOptions) => {
      const response = await withControlApi(options, (call) =>
        callRoute(call, "GET /api_keys", { query: { account_id: options.account } }),
      );
      if (options.json === true) return void print(`${JSON.stringify(response)}\n`);
      const rows = response.api_keys.map((key) => [
        String(key.id),
        key.name,
        key.account_id,
        key.created_at,
        key.last_used_at ?? "never",
      ]);
      print(`${formatTable(["ID", "NAME", "ACCOUNT", "CREATED", "LAST USED"], rows)}\n`);
    });
  addTargetOptions(
    keys
      .command("revoke")
      .argument("<id>", "key id, as printed by standin keys list", integerParser(1, Number.MAX_SAFE_INTEGER))
      .description("revoke a key immediately and permanently")
      .addHelpText("after", "\nExamples:\n  $ standin keys revoke 3"),
  )
    .addOption(jsonOption())
    .action(async (id: number, options: KeyOptions) => {
      const key = await withControlApi(options, (call) =>
        callRoute(call, "DELETE /api_keys/:key_id", { params: [String(id)] }),
      );
      print(options.json === true ? `${JSON.stringify(key)}\n` : `revoked key ${key.id} (${key.name})\n`);
    });
  return keys;
}
