import { Command } from "commander";
import { addTargetOptions, RefusedCall, type Target } from "../client/client.ts";
import { withControl } from "../client/control-client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { jsonOption } from "../terminal/option-parsers.ts";
import { formatTable } from "../terminal/text-table.ts";

type Options = Target & { json?: boolean };
type Fault = {
  readonly name: string;
  readonly on: { readonly operation?: string | readonly string[]; readonly action?: string | readonly string[] };
  readonly when: object;
  readonly effect: object;
  readonly seen: number;
  readonly hits: number;
};

/** What goes wrong in a world, and when. */
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
  verb(
    faults,
    "set <file>",
    "set the faults of a YAML or JSON file, - for stdin, in the place of all others",
    "standin faults set faults.yaml\n  $ standin faults set - < faults.json",
  ).action(async (file: string, options: Options) => {
    // What reads YAML is loaded only where there is some to read.
    const { nameOf, readFaultFile } = await import("../history/fault-file.ts");
    const asked = readFaultFile(file);
    const answer = await withControl(options, (call) => call<{ faults: Fault[] }>("PUT", "/faults", asked)).catch((error) => {
      // What is wrong with them is wrong in the file.
      throw error instanceof RefusedCall && error.status === 400 ? new CliError(`${nameOf(file)}: ${error.message}`) : error;
    });
    print(options, answer, answer.faults.length === 0 ? "no faults" : tableOf(answer.faults));
  });
  verb(faults, "list", "show the faults, what they have met and how often they struck", "standin faults list --json").action(
    async (options: Options) => {
      const answer = await withControl(options, (call) => call<{ faults: Fault[] }>("GET", "/faults"));
      print(options, answer, answer.faults.length === 0 ? "no faults; set some with: standin faults set <file>" : tableOf(answer.faults));
    },
  );
  verb(faults, "clear [name]", "remove one fault, or all of them", "standin faults clear\n  $ standin faults clear busy").action(
    async (name: string | undefined, options: Options) => {
      const path = name === undefined ? "/faults" : `/faults/${encodeURIComponent(name)}`;
      const answer = await withControl(options, (call) => call("DELETE", path));
      print(options, answer, name === undefined ? "removed all faults" : `removed ${name}`);
    },
  );
  return faults;
}

function tableOf(faults: readonly Fault[]): string {
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

function verb(parent: Command, usage: string, description: string, example: string): Command {
  return addTargetOptions(parent.command(usage).description(description).addHelpText("after", `\nExamples:\n  $ ${example}`)).addOption(
    jsonOption(),
  );
}

function print({ json }: Options, answer: unknown, text: string): void {
  process.stdout.write(`${json === true ? JSON.stringify(answer) : text}\n`);
}
