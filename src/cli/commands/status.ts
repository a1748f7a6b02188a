import { Command } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";

type EndpointResponse = {
  readonly endpoint_id: string;
  readonly project_id: string;
  readonly branch_id: string;
  readonly status: string;
  readonly pending_state: string | null;
  readonly current_size_cu: number;
  readonly connections: { readonly direct: number; readonly pooled: number };
  readonly autosuspend: { readonly suspend_in_ms: number | null };
};

export function statusCommand(): Command {
  return addTargetOptions(new Command("status"))
    .addOption(jsonOption())
    .addHelpText("after", "\nExamples:\n  $ standin status\n  $ standin status --json")
    .action(async (options: ServerTarget & { json?: boolean }) => {
      const server = await requireServer(options);
      const response = await server.call<{ now: string; endpoints: EndpointResponse[] }>("GET", "/endpoints");
      if (options.json === true) return void print(`${JSON.stringify(response)}\n`);
      const rows = response.endpoints.map((endpoint) => [
        endpoint.endpoint_id,
        endpoint.project_id,
        endpoint.branch_id,
        endpoint.pending_state === null ? endpoint.status : `${endpoint.status} → ${endpoint.pending_state}`,
        endpoint.current_size_cu === 0 ? "" : `${endpoint.current_size_cu} CU`,
        String(endpoint.connections.direct + endpoint.connections.pooled),
        describeSuspend(endpoint.autosuspend.suspend_in_ms, endpoint.status),
      ]);
      const table =
        rows.length === 0
          ? "no computes; create a project to get one"
          : formatTable(
              ["ENDPOINT", "PROJECT", "BRANCH", "STATUS", "SIZE", "CONNECTIONS", "SUSPENDS IN"],
              rows,
            );
      print(`${response.now}\n${table}\n`);
    });
}

function describeSuspend(inMs: number | null, status: string): string {
  if (status === "Idle") return "";
  return inMs === null ? "in use" : `${Math.ceil(inMs / 1000)}s`;
}
