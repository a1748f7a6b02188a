import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { accessibilityViolations, openPage } from "../support/browser/browser.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { spawnStandin } from "../support/process/process.ts";
import { testDirectory } from "../support/server/running-server.ts";

const SCENARIO = `
version: 1
world:
  projects:
    shop: {}
steps:
  - name: a client arrives
    activity: { to: shop/main, duration: 2s }
  - advance: 30s
  - name: it sleeps already
    expect: [{ state: idle, of: shop/main }]
  - advance: 10m
  - name: it sleeps now
    expect: [{ state: idle, of: shop/main }, { cold_starts: { max: 3 } }]
`;

/** A run whose page waits for an action. */
async function startRun() {
  const file = join(testDirectory(), "sleeps.yaml");
  writeFileSync(file, SCENARIO);
  const command = spawnStandin(["run", file, "--ui"]);
  onTestFinished(async () => {
    await command.kill("SIGKILL");
  });
  await expect.poll(() => command.stderr(), { timeout: 30_000 }).toContain("the run is at ");
  const url = /http:\S+/.exec(command.stderr())?.[0] ?? "";
  return { command, url };
}

test("a run is stepped, stops at the failed expectation with its value, and goes on", async () => {
  const { command, url } = await startRun();
  const { page } = await openPage(url);
  const bar = page.getByRole("region", { name: "Scenario run" });
  const steps = page.getByRole("tabpanel").locator(".steps li");
  await bar.getByText("before step 1: a client arrives").waitFor();
  await page.getByRole("navigation", { name: "Projects" }).getByRole("button", { name: "shop" }).waitFor();
  expect(await page.getByRole("button", { name: "+5 min" }).count()).toBe(0);
  await bar.getByRole("button", { name: "Step" }).click();
  await bar.getByText("before step 2: advance").waitFor();
  expect(await steps.first().getAttribute("class")).toBe("passed");
  expect(await steps.nth(1).getAttribute("aria-current")).toBe("step");

  await bar.getByRole("button", { name: "Continue" }).click();
  await bar.getByText("step 3 failed").waitFor();
  await page.locator("time.face", { hasText: "00:00:30" }).waitFor();
  await page.getByText("Expected state of shop/main: idle, but it is active.").waitFor();
  const failed = page.getByRole("row", { name: "✗ failed state of shop/main: idle" });
  expect(await failed.getByRole("cell").allTextContents()).toContain("active");
  await page.getByRole("row", { name: "not checked cold_starts" }).waitFor();
  expect(await accessibilityViolations(page)).toEqual([]);

  await bar.getByRole("button", { name: "To the end" }).click();
  await bar.getByText("the run has ended").waitFor();
  const margin = page.getByRole("row", { name: "✓ holds cold_starts" });
  expect(await margin.getByRole("cell").allTextContents()).toEqual([
    "✓ holds",
    expect.stringContaining("cold_starts"),
    "0",
    "3",
  ]);
  await bar.getByRole("button", { name: "Close" }).click();
  expect(await command.ended).toBe(1);
  expect(command.stdout()).toContain("✗ step 3");
});

test("Ctrl-C ends a paused run, and Stop ends it without a verdict", async () => {
  const [interrupted, stopped] = await Promise.all([startRun(), startRun()]);
  await interrupted.command.kill("SIGINT");
  expect(await interrupted.command.ended).toBe(130);
  const act = (body: object) =>
    fetch(`${stopped.url}_sim/run`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  expect((await act({ action: "jump" })).status).toBe(400);
  expect((await act({ action: "stop" })).status).toBe(200);
  expect(await stopped.command.ended).toBe(2);
  expect(stopped.command.stderr()).toContain("stopped on the page");
});

test("--ui shows one run", async () => {
  const file = join(testDirectory(), "one.yaml");
  writeFileSync(file, SCENARIO);
  const { code, stderr } = await runStandin(["run", file, file, "--ui"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--ui: shows one run")]);
});
