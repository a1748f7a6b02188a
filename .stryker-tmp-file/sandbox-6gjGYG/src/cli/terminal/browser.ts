// @ts-nocheck
import { spawn } from "node:child_process";
import { CliError } from "./cli-error.ts";

/** Starts the program that opens a URL on this system. */
export function openInBrowser(url: string): Promise<void> {
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
