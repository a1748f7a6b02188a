import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type AccountServer,
  accountFileName,
  pull,
  startAccount,
  useComputes,
} from "../../support/account/account-server.ts";
import { runStandin } from "../../support/process/in-process-command.ts";
import {
  journalOf,
  type ServerClient,
  serverClient,
  startServer,
  testDirectory,
} from "../../support/server/running-server.ts";

const VARIED = ["--durations", "varied", "--seed", "21"];

type Written = { readonly is_new_world: boolean; readonly world_events: number; readonly until: string };

/** Pulls what is new, and writes it into the world. */
async function shadowInto(account: AccountServer, file: string, data: string): Promise<Written> {
  const from = ["--from", account.ready.api_url, "--world", "shop", "--data", data, "--json"];
  const { code, stdout, stderr } = await runStandin(["shadow", file, ...from], {
    STANDIN_FROM_KEY: account.key,
  });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^reading 1 project/)]);
  return JSON.parse(stdout);
}

/** Serves the directory until `use` has been called with a client of the world. */
async function whileServed<T>(data: string, use: (world: ServerClient) => Promise<T>): Promise<T> {
  const server = await startServer(data, ["--clock", "manual"]);
  const control_url = server.ready.control_url.replace("/_sim", "/w/shop/_sim");
  const result = await use(serverClient({ ...server.ready, control_url }));
  await server.kill("SIGTERM");
  return result;
}

const contentOf = (data: string) =>
  whileServed(data, async (world) => ({
    events: await journalOf(world),
    state: (await world.sim("GET", "/state")).body,
  }));

test("three pulls into one world give the world of one pull, and verify", async () => {
  const account = await startAccount(["shop"], VARIED);
  const [inParts, data] = [accountFileName(), testDirectory()];
  await pull(account.ready.api_url, account.key, inParts);
  const written = [await shadowInto(account, inParts, data)];
  // The second pull finds an active compute, whose last use only the third one shows.
  const [compute] = account.computes;
  for (const minutes of [90, 4]) {
    await account.sim("POST", "/activity", { endpoint_id: compute, duration_ms: 20_000 });
    await account.sim("POST", "/clock/advance", { by: `${minutes}m` });
  }
  written.push(await shadowInto(account, inParts, data));
  await useComputes(account);
  written.push(await shadowInto(account, inParts, data));
  expect(written.map(({ is_new_world }) => is_new_world)).toEqual([true, false, false]);
  const counts = written.map(({ world_events }) => world_events);
  expect(counts).toEqual([...new Set(counts)].sort((one, other) => one - other));

  const [atOnce, other] = [accountFileName(), testDirectory()];
  await pull(account.ready.api_url, account.key, atOnce);
  await runStandin(["shadow", atOnce, "--world", "shop", "--data", other]);
  const content = await contentOf(data);
  expect(content.events.length).toBe(counts.at(-1));
  expect(content).toEqual(await contentOf(other));
  expect(await runStandin(["verify", data, "--world", "shop"])).toMatchObject({ code: 0 });
}, 60_000);

test("a world that was served is continued; one that has gone on or was changed is not, and nothing is read", async () => {
  const account = await startAccount(["shop"], VARIED);
  const [file, data] = [accountFileName(), testDirectory()];
  await pull(account.ready.api_url, account.key, file);
  await shadowInto(account, file, data);
  await contentOf(data);
  await useComputes(account);
  expect(await shadowInto(account, file, data)).toMatchObject({ is_new_world: false });

  await whileServed(data, async (world) => await world.sim("POST", "/clock/advance", { by: "1h" }));
  const out = join(testDirectory(), "agreement.json");
  const again = ["shadow", file, "--from", account.ready.api_url, "--world", "shop", "--data", data];
  const before = await contentOf(data);
  const refused = await runStandin([...again, "--out", out], { STANDIN_FROM_KEY: account.key });
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /the world "shop" was changed after standin shadow wrote it: its clock has gone on from \S+ to \S+.*standin worlds delete shop/,
  );
  expect(refused.stderr).not.toContain("reading");
  expect(existsSync(out)).toBe(false);
  expect(await contentOf(data)).toEqual(before);
  await runStandin(["keys", "create", "me", "--data", data, "--world", "shop"]);
  expect((await runStandin(again, { STANDIN_FROM_KEY: account.key })).stderr).toMatch(
    /its history has \d+ more events/,
  );
}, 60_000);

test("a world that shadow did not create stays as it is, and options without effect are errors", async () => {
  const account = await startAccount(["shop"], VARIED);
  const [file, data] = [accountFileName(), testDirectory()];
  await pull(account.ready.api_url, account.key, file);
  await runStandin(["mirror", "--history", file, "--data", data, "--world", "shop"]);
  for (const [args, code, message] of [
    [["--world", "shop", "--data", data], 1, "that standin shadow did not create; choose another --world"],
    [["--world", "Shop", "--data", data], 2, "--world: expected 1 to 63 of a-z, 0-9 and -"],
    [["--data", data], 2, "--data: has an effect only with --world"],
  ] as const)
    expect(await runStandin(["shadow", file, ...args])).toMatchObject({
      ...{ code, stdout: "" },
      stderr: expect.stringContaining(message),
    });
}, 60_000);
