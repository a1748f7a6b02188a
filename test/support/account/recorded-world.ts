import { expect } from "vitest";
import { runStandin } from "../process/in-process-command.ts";
import { journalOf, testDirectory } from "../server/running-server.ts";
import { type AccountServer, accountFileName, pull, startAccount } from "./account-server.ts";

type Mirrored = { readonly account: AccountServer; readonly file: string; readonly data: string };

/** The account of a second server, and a world with its past. */
export async function mirrorHistory(options: readonly string[] = []): Promise<Mirrored> {
  const account = await startAccount(["shop", "blog"], options);
  const [file, data] = [accountFileName(), testDirectory()];
  expect(await pull(account.ready.api_url, account.key, file)).toMatchObject({ code: 0 });
  const mirrored = await runStandin(["mirror", "--history", file, "--data", data]);
  expect(mirrored).toMatchObject({ code: 0, stderr: "" });
  expect(mirrored.stdout).toContain("requests within a period are not known");
  expect(mirrored.stdout).not.toContain("skipped");
  return { account, file, data };
}

/** From each start to the suspend after it, to the second. */
export async function activePeriods(
  client: Pick<AccountServer, "sim">,
  endpoint: string,
): Promise<readonly (readonly [string, string])[]> {
  const periods: [string, string][] = [];
  for (const event of await journalOf(client)) {
    const { type, at } = event as { type: string; at: string };
    if (!("endpoint_id" in event) || event.endpoint_id !== endpoint) continue;
    if (type === "ComputeActivated") periods.push([secondOf(at), ""]);
    if (type === "ComputeSuspended") periods.push([periods.pop()?.[0] ?? "", secondOf(at)]);
  }
  return periods;
}

function secondOf(at: string): string {
  return `${at.slice(0, 19)}Z`;
}
