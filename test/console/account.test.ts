import { expect, test } from "vitest";
import { startAccount } from "../support/account/account-server.ts";
import { mirrorHistory } from "../support/account/recorded-world.ts";
import { accessibilityViolations, openPage } from "../support/browser/browser.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { startServer } from "../support/server/running-server.ts";

const CHARTS = ["Cost by delay, with its bounds", "Awake time by cause", "Awake time by hour of the week"];

test("a world with the past of an account shows the report of its file, wide and narrow, light and dark", async () => {
  const { file, data } = await mirrorHistory();
  const curve = await runStandin(["whatif", "curve", file]);
  const server = await startServer(data, ["--clock", "manual", "--pg-port", "none"]);
  const url = new URL("/", server.ready.api_url).href;
  for (const { width, scheme, shown } of [
    { width: 1440, scheme: "light", shown: "wide" },
    { width: 400, scheme: "dark", shown: "narrow" },
  ] as const) {
    const { page } = await openPage(url, { width, scheme });
    await page.getByRole("tab", { name: "Account" }).waitFor();
    await page.getByRole("tab", { name: "What if" }).click();
    await page.keyboard.press("ArrowRight");
    const panel = page.getByRole("tabpanel", { name: "Account" });
    const decision = await panel.locator(".decision").textContent();
    // The terminal wraps it.
    expect(curve.stdout.replaceAll(/\s+/g, " ")).toContain(decision);
    for (const title of CHARTS) {
      const figure = panel.locator("figure").filter({ has: page.getByRole("heading", { name: title }) });
      const drawings = await figure.getByRole("img").all();
      // The other size is not displayed, so it has no role.
      expect(drawings.length).toBe(1);
      expect(await figure.locator(`.${shown}`).isVisible()).toBe(true);
      const { width: drawn = 0, height = 0 } = (await drawings[0]?.boundingBox()) ?? {};
      expect({ drawn: drawn > 250 && drawn <= width, height: height > 50 }).toEqual({
        drawn: true,
        height: true,
      });
    }
    expect(await panel.locator(`.${shown} svg title`).allTextContents()).toContainEqual(
      expect.stringMatching(/^shop, Monday 00:00: active \d+ % of the time$/),
    );
    expect(await panel.getByRole("row", { name: /^all projects / }).count()).toBe(1);
    await panel.getByRole("heading", { name: /^Experiment: 3 days would narrow the bounds/ }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
    expect(await accessibilityViolations(page)).toEqual([]);
  }
}, 90_000);

test("a world without the past of an account has no such tab", async () => {
  const { ready } = await startAccount(["shop"]);
  const { page } = await openPage(new URL("/", ready.api_url).href);
  await page.getByRole("tab", { name: "What if" }).waitFor();
  const requests =
    "performance.getEntriesByType('resource').some(({ name }) => name.endsWith('/account-report'))";
  await expect.poll(() => page.evaluate(requests)).toBe(true);
  expect(await page.getByRole("tab", { name: "Account" }).count()).toBe(0);
}, 60_000);
