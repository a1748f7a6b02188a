import { Command } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import { ControlApiError, type ServerTarget } from "../client/client.ts";
import { withControlApi } from "../client/control-client.ts";
import { callRoute } from "../client/control-route.ts";
import { addTargetCommand } from "../client/target-command.ts";
import { CliError } from "../terminal/cli-error.ts";
import { printResult } from "../terminal/print.ts";
import { formatTable } from "../terminal/text-table.ts";

type FaultsOptions = ServerTarget & { json?: boolean };

export function faultsCommand(): Command {
  const faults = new Command("faults").addHelpText(
    "after",
    `
Examples:
  $ echo '[{"name":"busy","on":{"operation":"createProjectBranch"},"when":{"every":3},"effect":{"answer":{"status":423}}}]' | standin faults set -
  $ standin faults list
  $ standin faults clear busy
  $ standin faults clear`,
  );
  addTargetCommand(faults, {
    usage: "set <file>",
    description: "replace all faults with those of a YAML or JSON file; - reads stdin",
    examples: ["standin faults set faults.yaml", "standin faults set - < faults.json"],
  }).action(async (file: string, options: FaultsOptions) => {
    // The YAML parser is loaded on demand.
    const { faultFileName, readFaultFile } = await import("../history/fault-file.ts");
    const definitions = readFaultFile(file);
    const response = await withControlApi(options, (call) =>
      callRoute(call, "PUT /faults", { body: definitions }),
    ).catch((error) => {
      // Invalid definitions come from the file.
      throw error instanceof ControlApiError && error.status === 400
        ? new CliError(`${faultFileName(file)}: ${error.message}`)
        : error;
    });
    printResult(options, response, response.faults.length === 0 ? "no faults" : faultTable(response.faults));
  });
  addTargetCommand(faults, {
    usage: "list",
    description: "list the faults, how often each matched (SEEN), and how often it triggered (HITS)",
    examples: ["standin faults list --json"],
  }).action(async (options: FaultsOptions) => {
    const response = await withControlApi(options, (call) => callRoute(call, "GET /faults"));
    printResult(
      options,
      response,
      response.faults.length === 0
        ? "no faults; add some with: standin faults set <file>"
        : faultTable(response.faults),
    );
  });
  addTargetCommand(faults, {
    usage: "clear [name]",
    description: "remove one fault, or all faults",
    examples: ["standin faults clear", "standin faults clear busy"],
  }).action(async (name: string | undefined, options: FaultsOptions) => {
    const response = await withControlApi<unknown>(options, (call) =>
      name === undefined
        ? callRoute(call, "DELETE /faults")
        : callRoute(call, "DELETE /faults/:name", { params: [name] }),
    );
    printResult(options, response, name === undefined ? "removed all faults" : `removed ${name}`);
  });
  return faults;
}

function faultTable(faults: ControlAnswer<"GET /faults">["faults"]): string {
  const rows = faults.map(({ name, on, when, effect, seen, hits }) => [
    name,
    [on.operation ?? on.action ?? "start_compute"].flat().join(","),
    Object.keys(when).length === 0 ? "always" : JSON.stringify(when),
    JSON.stringify(effect),
    String(seen),
    String(hits),
  ]);
  return formatTable(["NAME", "ON", "WHEN", "EFFECT", "SEEN", "HITS"], rows);
}
