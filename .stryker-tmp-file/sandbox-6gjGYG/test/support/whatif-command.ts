// @ts-nocheck
import { join } from "node:path";
import { expect } from "vitest";
import { runStandin } from "./in-process-command.ts";
import { testDirectory } from "./running-server.ts";

/** The JSON output of `standin whatif`. Throws unless it exits with 0 and prints only notes on stderr. */
export async function runWhatif(args: readonly string[]): Promise<any> {
  const { code, stdout, stderr } = await runStandin(["whatif", ...args, "--json"]);
  expect({ code, stderr: stderr.replaceAll(/^note: .*\n/gm, "") }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

/** A synthetic trace in a directory that is removed after the test. */
export async function createShopTrace(
  out = "shop.standin-trace",
  computes = 3,
  patterns = ["office-hours", "cron"],
): Promise<string> {
  const file = join(testDirectory(), out);
  const flags = patterns.flatMap((pattern) => ["--pattern", pattern]);
  await runWhatif([
    "fleet",
    "--computes",
    String(computes),
    "--days",
    "8",
    "--seed",
    "2",
    ...flags,
    "--out",
    file,
  ]);
  return file;
}
