import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import {
  accessibilityViolations,
  openPage,
  sharedServerUrl,
  shareServer,
} from "../support/browser/browser.ts";

shareServer();

/** Fails if a link of a page leads nowhere. */
beforeAll(() => {
  execFileSync(process.execPath, ["scripts/docs.mjs"], { stdio: "pipe" });
  expect(existsSync("dist/docs/index.html")).toBe(true);
});

test.each([
  { width: 1440, scheme: "light" },
  { width: 400, scheme: "dark" },
] as const)("a search finds a page, $width wide and $scheme", async (options) => {
  const { page } = await openPage(new URL("/docs/", sharedServerUrl()).href, options);
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByPlaceholder("Search").fill("choose an autosuspend delay");
  await page.getByRole("option").first().click();
  await page.getByRole("heading", { name: "Choose an autosuspend delay", level: 1 }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/docs/how-to/choose-a-delay.html");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(options.width);
  expect(await page.title()).toBe("Choose an autosuspend delay | standin");
});

test("each page is in llms.txt, with an address that leads to its Markdown", async () => {
  const list = await (await fetch(new URL("/llms.txt", sharedServerUrl()))).text();
  const pages = [...list.matchAll(/^- \[.+\]\((.+)\): .+\S$/gm)].map(([, page = ""]) => page);
  expect(pages.length).toBe(list.match(/^- /gm)?.length);
  expect(pages.length).toBeGreaterThan(40);
  for (const page of pages) {
    const response = await fetch(new URL(`/docs/${page}`, sharedServerUrl()));
    expect([page, response.status]).toEqual([page, 200]);
    expect(await response.text()).toMatch(/^# /);
  }
});

test("links between pages lead to pages, also after a reload", async () => {
  const { page } = await openPage(new URL("/docs/", sharedServerUrl()).href);
  await page.getByRole("table").getByRole("link", { name: "seed files" }).click();
  await page.getByRole("heading", { name: "Seed file", level: 1 }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Seed file", level: 1 }).waitFor();
  expect(await accessibilityViolations(page, ["color-contrast", "link-name", "button-name"])).toEqual([]);
});
