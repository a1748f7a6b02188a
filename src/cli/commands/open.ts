import { Command, Option } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { openInBrowser } from "../terminal/browser.ts";
import { CliError } from "../terminal/cli-error.ts";
import { print } from "../terminal/print.ts";

type OpenOptions = ServerTarget & { print?: boolean };

export function openCommand(): Command {
  return addTargetOptions(new Command("open"))
    .addOption(new Option("--print", "print the URL of the console instead of opening it"))
    .addHelpText(
      "after",
      "\nExamples:\n  $ standin open\n  $ standin open --world experiment\n  $ standin open --print",
    )
    .action(async (options: OpenOptions) => {
      const { controlUrl } = await requireServer(options);
      const url = controlUrl.replace(/\/_sim$/, "/");
      const response = await fetch(url, { headers: { Accept: "text/html" } });
      if (!response.ok)
        throw new CliError(`${url} serves no console: the server was started with --console off`);
      print(`${url}\n`);
      if (options.print !== true) await openInBrowser(url);
    });
}
