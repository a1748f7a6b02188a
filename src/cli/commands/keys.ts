import { Command, type Option } from "commander";
import type { ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { addTargetCommand } from "../client/target-command.ts";
import { integerParser } from "../terminal/option-parsers.ts";
import { envOption } from "../terminal/options.ts";
import { printResult } from "../terminal/print.ts";
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
  addCreate(keys);
  addList(keys);
  addRevoke(keys);
  return keys;
}

function accountOption(): Option {
  return envOption("--account <id>", "account of the key (default: the first account)");
}

function addCreate(keys: Command): void {
  addTargetCommand(keys, {
    usage: "create <name>",
    description: "create a key and print it; it is not shown again",
    options: [accountOption()],
    examples: ["standin keys create ci", "standin keys create ci --account acme --json"],
  }).action(async (name: string, options: KeyOptions) => {
    const key = await withControlApi(options, (call) =>
      callRoute(call, "POST /api_keys", { body: { key_name: name, account_id: options.account } }),
    );
    printResult(options, key, key.key);
  });
}

function addList(keys: Command): void {
  addTargetCommand(keys, {
    usage: "list",
    description: "list the valid keys, without their secrets",
    options: [accountOption()],
    examples: ["standin keys list", "standin keys list --account acme"],
  }).action(async (options: KeyOptions) => {
    const response = await withControlApi(options, (call) =>
      callRoute(call, "GET /api_keys", { query: { account_id: options.account } }),
    );
    const rows = response.api_keys.map((key) => [
      String(key.id),
      key.name,
      key.account_id,
      key.created_at,
      key.last_used_at ?? "never",
    ]);
    printResult(options, response, formatTable(["ID", "NAME", "ACCOUNT", "CREATED", "LAST USED"], rows));
  });
}

function addRevoke(keys: Command): void {
  addTargetCommand(keys, {
    usage: "revoke",
    description: "revoke a key immediately and permanently",
    examples: ["standin keys revoke 3"],
  })
    .argument("<id>", "key id, as printed by standin keys list", integerParser(1, Number.MAX_SAFE_INTEGER))
    .action(async (id: number, options: KeyOptions) => {
      const key = await withControlApi(options, (call) =>
        callRoute(call, "DELETE /api_keys/:key_id", { params: [String(id)] }),
      );
      printResult(options, key, `revoked key ${key.id} (${key.name})`);
    });
}
