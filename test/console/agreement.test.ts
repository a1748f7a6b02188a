import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { accountFileName, pull, startAccount, useComputes } from "../support/account/account-server.ts";
import { accessibilityViolations, openPage } from "../support/browser/browser.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { startServer, testDirectory } from "../support/server/running-server.ts";

/** The address of a served world with the past of an account, in which an unknown action was recorded. */
async function serveShadow(): Promise<{ readonly url: string; readonly operation: string }> {
  const account = await startAccount(["shop"], ["--durations", "varied", "--seed", "21"]);
  const [file, data] = [accountFileName(), testDirectory()];
  await pull(account.ready.api_url, account.key, file);
  await useComputes(account);
  await pull(account.ready.api_url, account.key, file);
  const database = new Database(file);
  const operation = database
    .prepare("SELECT id FROM operations ORDER BY created_at DESC LIMIT 1")
    .pluck()
    .get();
  database.prepare("UPDATE operations SET action = '<b>new</b>' WHERE id = ?").run(operation);
  database.close();
  const { code } = await runStandin(["shadow", file, "--world", "shop", "--data", data]);
  expect(code).toBe(1);
  const server = await startServer(data, ["--clock", "manual", "--pg-port", "none"]);
  return { url: new URL("/w/shop/", server.ready.api_url).href, operation: String(operation) };
}

test("the agreement of a shadowed world is shown with its checks, and each surprise with operation, rule and evidence", async () => {
  const { url, operation } = await serveShadow();
  for (const { width, scheme } of [
    { width: 1440, scheme: "light" },
    { width: 390, scheme: "dark" },
  ] as const) {
    const { page } = await openPage(url, { width, scheme });
    const whatIf = page.getByRole("tab", { name: "What if" });
    await page.getByRole("tab", { name: "Agreement" }).waitFor();
    await whatIf.click();
    // Past the account.
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    const panel = page.getByRole("tabpanel", { name: "Agreement" });
    await panel.getByText(/^Differs from the rules: \d+ surprises?, 0 tolerated\.$/).waitFor();
    const surprise = panel.getByRole("listitem").filter({ hasText: "unknown action <b>new</b>" });
    expect(await surprise.textContent()).toContain(`operation ${operation}`);
    expect(await surprise.textContent()).toContain(
      "action (S): operations have the actions that standin schedules",
    );
    const suspends = panel.getByRole("row", { name: /^suspend R/ });
    const cells = await suspends.getByRole("cell").allTextContents();
    expect(cells.length).toBe(9);
    expect(cells.slice(5)).toEqual(new Array(4).fill(expect.stringMatching(/^-?[\d.]+ ms$/)));
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    expect(await accessibilityViolations(page)).toEqual([]);
  }
  const { page } = await openPage(new URL("/", url).href);
  await page.getByRole("tab", { name: "What if" }).waitFor();
  expect(await page.getByRole("tab", { name: "Agreement" }).count()).toBe(0);
}, 90_000);
