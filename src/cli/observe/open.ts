import { spawn } from "node:child_process";
import { Command, Option } from "commander";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
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

/** Starts the program that opens a URL on this system. */
function openInBrowser(url: string): Promise<void> {
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", url]
      : process.platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler", url]
        : ["xdg-open", url];
  return new Promise((resolve, reject) => {
    const child = spawn(program as string, args, { stdio: "ignore", detached: true });
    child.once("error", () =>
      reject(new CliError(`${program} could not be started; open the URL above in a browser`)),
    );
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}
