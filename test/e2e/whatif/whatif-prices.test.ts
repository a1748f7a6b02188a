import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { runWhatif } from "../../support/whatif/whatif-command.ts";

function trace(): string {
  const file = join(testDirectory(), "shop.csv");
  writeFileSync(
    file,
    "endpoint_id,at,duration_ms,source\na,2026-01-01T00:00:00Z,60000,web\na,2026-01-03T00:10:00Z,120000,cron\n",
  );
  return file;
}

const QUESTIONS: [command: string, ...args: string[]][] = [
  ["curve"],
  ["compare", "--policy", "fixed:60"],
  ["capacity", "--size", "0.25..1"],
  ["attribute"],
  ["starts"],
  ["quota", "--quota-cu-hours", "1", "--recorded-only"],
];

test.each(QUESTIONS)(
  "%s reads a profile from a file, and its text and JSON name it",
  async (command, ...args) => {
    const file = trace();
    const mine = join(testDirectory(), "mine.yaml");
    writeFileSync(mine, "price_per_cu_hour: 0.5\nstart_latency: 7s\n");
    const all = [command, file, ...args, "--profile", mine];
    const { question } = await runWhatif(all);
    expect(question).toMatchObject({
      profile: "mine",
      start_latency: "7000ms",
      price_per_cu_hour: 0.5,
      price_list: null,
    });
    const { stdout } = await runStandin(["whatif", ...all]);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain("profile mine");
  },
);

test.each(QUESTIONS.filter(([command]) => command !== "quota"))(
  "%s has a price under every profile, and its text, JSON and HTML name the list",
  async (command, ...args) => {
    const all = [command, trace(), ...args];
    for (const profile of ["2024", "2026"]) {
      const { question } = await runWhatif([...all, "--profile", profile]);
      expect(question).toMatchObject({ profile, price_per_cu_hour: 0.222, price_list: "2026-03-20" });
      const { stdout } = await runStandin(["whatif", ...all, "--profile", profile]);
      expect(stdout.replaceAll(/\s+/g, " ")).toContain(
        `$0.222 per CU-hour (plan scale, prices of 2026-03-20) · profile ${profile}`,
      );
    }
  },
);

test("0.106 is the price of the lower paid plan; another list has other prices; --prices overrides a profile file", async () => {
  const file = trace();
  const price = async (...args: string[]) =>
    (await runWhatif(["curve", file, ...args])).question.price_per_cu_hour;
  expect(await price("--price-plan", "launch")).toBe(0.106);
  expect(await price("--prices", "2025-08-14")).toBe(0.26);
  expect(await price("--prices", "2025-08-14", "--price-plan", "launch")).toBe(0.14);
  const mine = join(testDirectory(), "mine.yaml");
  writeFileSync(mine, "price_per_cu_hour: 0.5\n");
  expect(await price("--profile", mine, "--prices", "2025-11-03")).toBe(0.222);
  expect(await price("--profile", mine, "--price", "0.7")).toBe(0.7);
});
