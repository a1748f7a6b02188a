// @ts-nocheck
// Takes docs/images/console-light.webp and console-dark.webp: the console of a world with some hours of traffic.
// The world comes from a seed, so the pictures change only with the page. Needs dist/: node scripts/console-picture.mjs
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { uniformFloat64 } from "pure-rand/distribution/uniformFloat64";
import { xoroshiro128plus } from "pure-rand/generator/xoroshiro128plus";

const MINUTE = 60_000;
const SIZE = { width: 1360, height: 820 };
const QUALITY = 80;

const data = mkdtempSync(join(tmpdir(), "console-picture-"));
const options = ["--clock", "manual", "--start-at", "2026-03-02T08:00:00Z", "--seed", "7"];
const server = spawn(
  process.execPath,
  ["dist/standin.js", "serve", "--data", data, "--port", "0", "--pg-port", "none", "--json", ...options],
  { stdio: ["ignore", "pipe", "inherit"] },
);
const [line] = await once(server.stdout, "data");
const { api_url, control_url, api_key } = JSON.parse(String(line).split("\n")[0]);

async function call(base, method, path, body) {
  const headers = { Authorization: `Bearer ${api_key}`, "Content-Type": "application/json" };
  const response = await fetch(base + path, { method, headers, body: JSON.stringify(body) });
  return response.json();
}
const api = (method, path, body) => call(api_url, method, path, body);
const sim = (method, path, body) => call(control_url, method, path, body);
const advance = (by) => sim("POST", "/clock/advance", { by });

const projects = [];
for (const name of ["storefront", "billing", "analytics", "mobile-api"]) {
  const range = name === "analytics" ? { autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 4 } : {};
  projects.push(await api("POST", "/projects", { project: { name, default_endpoint_settings: range } }));
  await advance("20s");
}
const [storefront] = projects;
for (const name of ["preview/login", "staging"]) {
  const endpoints = [{ type: "read_write" }];
  await api("POST", `/projects/${storefront.project.id}/branches`, { branch: { name }, endpoints });
  await advance("20s");
}
await sim("PUT", "/faults/slow-start", {
  on: { action: "start_compute" },
  when: { every: 9 },
  effect: { start_slower: { by: "5s..20s" } },
});
await advance("20m");
const { now } = await sim("GET", "/clock");
const generator = xoroshiro128plus(7);
const random = () => uniformFloat64(generator);
const arrivals = Array.from({ length: 220 }, () => ({
  endpoint_id: projects[Math.floor(random() ** 2 * projects.length)].endpoints[0].id,
  at: new Date(
    Date.parse(now) + Math.floor(random() * 318) * MINUTE + Math.floor(random() * MINUTE),
  ).toISOString(),
  duration_ms: Math.floor(random() * 4 * MINUTE),
  load: Math.round(random() * 30) / 10,
}));
await sim("POST", "/activity", arrivals);
await advance("5h 20m");
await sim("POST", "/activity", { endpoint_id: storefront.endpoints[0].id, duration_ms: 2_000, load: 0.1 });
await advance("1m");

const entry = createRequire(import.meta.url).resolve("@sparticuz/chromium");
const { default: binary } = await import(
  pathToFileURL(entry.replace("/cjs/index.cjs", "/esm/index.js")).href
);
const browser = await chromium.launch({
  executablePath: await binary.executablePath(),
  args: ["--no-sandbox"],
});
for (const scheme of ["light", "dark"]) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: scheme });
  await page.goto(new URL("/", api_url).href);
  await page.getByRole("button", { name: "6 h", exact: true }).click();
  await page.getByRole("button", { name: "storefront / main", exact: true }).click();
  await page.getByRole("tab", { name: "What if" }).click();
  await page.getByRole("slider").press("ArrowLeft");
  await page.getByText("Suspend after 2 min without activity").waitFor();
  await page.mouse.move(0, 0);
  await page.evaluate("document.activeElement.blur()");
  await page.waitForTimeout(500);
  const session = await page.context().newCDPSession(page);
  const picture = await session.send("Page.captureScreenshot", { format: "webp", quality: QUALITY });
  writeFileSync(`docs/images/console-${scheme}.webp`, Buffer.from(picture.data, "base64"));
}
await browser.close();
server.kill();
await once(server, "exit");
rmSync(data, { recursive: true });
