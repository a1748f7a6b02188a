import { Command, Option } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { statementLine } from "../history/statement-line.ts";
import type { OpenFailedWorld } from "../run/open-failed-world.ts";
import { openInBrowser } from "../terminal/browser.ts";
import { CliError } from "../terminal/cli-error.ts";
import { integerParser } from "../terminal/option-parsers.ts";
import { print } from "../terminal/print.ts";

type OpenOptions = ServerTarget & { readonly print?: boolean; readonly port?: number };

const MAX_PORT = 65_535;
/** Statements of a failed test that are printed. */
const MAX_SHOWN = 20;
/** Options that select a running server, by their names in a command. */
const TARGET_OPTIONS = ["data", "world", "url", "controlToken"];

export function openCommand(): Command {
  return addTargetOptions(new Command("open"))
    .argument("[file]", "file that a failed test or standin run --failures wrote (default: a running server)")
    .addOption(
      new Option("--port <n>", "with a file: port of 127.0.0.1 (default: a free one)").argParser(
        integerParser(0, MAX_PORT),
      ),
    )
    .addOption(new Option("--print", "print the URL of the console instead of opening it"))
    .addHelpText(
      "after",
      `
Without a file, opens the console of the running server. With a file, serves the
world at the instant of the failure, on a manual clock, until Ctrl-C: its requests,
its history and its computes. The world is a temporary copy, so the file stays as
it is. The rows of its branches are not in the file.

Exit status: 0 opened or stopped by Ctrl-C, 1 failed, 2 usage error or not such a
file.

Examples:
  $ standin open
  $ standin open --world experiment
  $ standin open --print
  $ standin open standin-failures/a-client-retries.yaml`,
    )
    .action(async (file: string | undefined, options: OpenOptions, command: Command) => {
      if (file === undefined) {
        if (options.port !== undefined)
          throw new CliError("--port: requires a file; a running server has its own port", true);
        await openServer(options);
        return;
      }
      const target = TARGET_OPTIONS.find((name) => command.getOptionValueSource(name) === "cli");
      if (target !== undefined)
        throw new CliError(
          `--${target === "controlToken" ? "control-token" : target}: selects a running server; omit it to open ${file}`,
          true,
        );
      const { serveFailedWorld } = await import("../run/open-failed-world.ts");
      await serveFailedWorld(file, options.port ?? 0, (world) => show(file, world, options.print === true));
    });
}

async function openServer(options: OpenOptions): Promise<void> {
  const { controlUrl } = await requireServer(options);
  const url = controlUrl.replace(/\/_sim$/, "/");
  const response = await fetch(url, { headers: { Accept: "text/html" } });
  if (!response.ok) throw new CliError(`${url} serves no console: the server was started with --console off`);
  print(`${url}\n`);
  if (options.print !== true) await openInBrowser(url);
}

async function show(
  file: string,
  { failed, consoleUrl, apiUrl, apiKey }: OpenFailedWorld,
  onlyPrints: boolean,
): Promise<void> {
  const { by, what, at, message, dropped = [], sql = [] } = failed;
  const [firstLine = "", ...otherLines] = message.trimEnd().split("\n");
  print(
    [
      `${by === "test" ? `the test "${what}"` : what} failed at ${at}: ${firstLine}`,
      ...otherLines.map((line) => `  ${line}`),
      ...dropped.map((reason) => `not in the steps: ${reason}`),
      ...(sql.length === 0
        ? []
        : [`SQL of the test, the newest ${Math.min(MAX_SHOWN, sql.length)} of ${sql.length}:`]),
      ...sql.slice(-MAX_SHOWN).map((statement) => `  ${statementLine(statement)}`),
      `console: ${consoleUrl}`,
      `API: ${apiUrl}${apiKey === undefined ? "" : ` (key: ${apiKey})`}`,
      `repeat it with: standin run ${file}`,
      "Ctrl-C stops the server and deletes its copy of the world",
      "",
    ].join("\n"),
  );
  if (onlyPrints) return;
  // The address is printed: a user without a browser on this machine opens it elsewhere.
  await openInBrowser(consoleUrl).catch(() => undefined);
}
