import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../support/in-process-command.ts";
import { testDirectory } from "../support/running-server.ts";
import { createShopTrace, runWhatif } from "../support/whatif-command.ts";

test.each([
  ["fleet", "mine.csv"],
  ["fleet", "mine.standin-trace"],
  ["import", "mine.standin-trace"],
])("%s --out writes over nobody's %s, and leaves it as it is", async (command, name) => {
  const traces = command === "import" ? [await createShopTrace("shop.csv")] : [];
  const out = join(testDirectory(), name);
  writeFileSync(out, "mine");
  const { code, stdout, stderr } = await runStandin(["whatif", command, ...traces, "--out", out]);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `standin: ${out} is there already; choose another --out\n`,
  });
  expect(readFileSync(out, "utf8")).toBe("mine");
});

test("a report takes the place of the one that was there; what is of no report stays, and is not written over", async () => {
  const [trace, out] = [await createShopTrace(), testDirectory()];
  writeFileSync(join(out, "notes.txt"), "mine");
  const files = async (...args: readonly string[]) => {
    expect((await runStandin(["whatif", ...args, trace, "--out", out])).code).toBe(0);
    const manifest = JSON.parse(readFileSync(join(out, "manifest.json"), "utf8"));
    const listed = ["manifest.json", "notes.txt", ...manifest.files].sort();
    expect(readdirSync(out).sort()).toEqual(listed);
    return listed;
  };
  expect(await files("curve")).toContain("trade-off.svg");
  expect(await files("compare", "--policy", "fixed:60")).toContain("policies.csv");
  expect(await files("compare", "--policy", "fixed:60")).not.toContain("trade-off.svg");
  const elsewhere = testDirectory();
  writeFileSync(join(elsewhere, "summary.json"), "mine");
  const { code, stderr } = await runStandin(["whatif", "curve", trace, "--out", elsewhere]);
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/: summary\.json is there already, and of no report; choose another --out$/m),
  ]);
  expect(readdirSync(elsewhere)).toEqual(["summary.json"]);
});

test.each(["fleet.csv", "fleet.standin-trace"])(
  "%s: a fleet says how many of its computes have requests, as a curve of it does",
  async (name) => {
    const out = join(testDirectory(), name);
    const asked = ["fleet", "--computes", "10", "--days", "1", "--seed", "2"];
    const { stdout } = await runStandin(["whatif", ...asked, "--out", out]);
    const { traffic } = await runWhatif(["curve", out]);
    expect(traffic.computes_used).toBeLessThan(10);
    expect(stdout).toContain(` requests to ${traffic.computes_used} of 10 computes\n`);
    expect(await runWhatif([...asked, "--out", join(testDirectory(), name)])).toMatchObject({
      computes: 10,
      computes_used: traffic.computes_used,
      requests: traffic.requests,
    });
  },
);

test("a trace that was imported is read as it is: what says how files are read is refused", async () => {
  const trace = await createShopTrace();
  const refused = [
    ["--map", "at=when"],
    ["--preset", "redset"],
    ["--endpoint", "ep-one"],
    ["--time-zone", "Mars/Phobos"],
    ["--format", "csv"],
  ];
  for (const asked of refused) {
    const { code, stderr } = await runStandin(["whatif", "curve", trace, ...asked]);
    expect({ asked, code, stderr }).toEqual({
      asked,
      code: 1,
      stderr: expect.stringMatching(/^standin: shop\.standin-trace: (has the fields|is a standin-trace)/),
    });
  }
  expect((await runStandin(["whatif", "curve", trace, "--format", "standin-trace", "--strict"])).code).toBe(
    0,
  );
  const csv = join(testDirectory(), "bad.csv");
  writeFileSync(csv, "endpoint_id,at,duration_ms\nep-one,2026-03-02T10:00:00Z,5\nep-one,nonsense,5\n");
  const imported = join(testDirectory(), "bad.standin-trace");
  expect((await runStandin(["whatif", "import", csv, "--out", imported])).code).toBe(0);
  const strict = await runStandin(["whatif", "curve", imported, "--strict"]);
  expect([strict.code, strict.stderr]).toEqual([
    1,
    "standin: bad.standin-trace: --strict: 1 bad row left out when it was imported\n",
  ]);
});
