import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runStandin } from "../../support/process/in-process-command.ts";
import { testDirectory } from "../../support/server/running-server.ts";
import { createShopTrace, runWhatif } from "../../support/whatif/whatif-command.ts";

test.each([
  ["fleet", "mine.csv"],
  ["fleet", "mine.standin-trace"],
  ["import", "mine.standin-trace"],
])("%s --out never overwrites %s, and leaves it unchanged", async (command, name) => {
  const traces = command === "import" ? [await createShopTrace("shop.csv")] : [];
  const out = join(testDirectory(), name);
  writeFileSync(out, "mine");
  const { code, stdout, stderr } = await runStandin(["whatif", command, ...traces, "--out", out]);
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: "",
    stderr: `standin: --out: ${out} already exists; choose another file\n`,
  });
  expect(readFileSync(out, "utf8")).toBe("mine");
});

test("a report replaces the previous one; unrelated files stay and are not overwritten", async () => {
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
    expect.stringMatching(
      /: summary\.json already exists and is not part of a report; choose another directory$/m,
    ),
  ]);
  expect(readdirSync(elsewhere)).toEqual(["summary.json"]);
});

test("an --out that ends in .html is the report alone; it replaces a report and no other file", async () => {
  const [trace, directory] = [await createShopTrace(), testDirectory()];
  const out = join(directory, "report.html");
  const compare = () => runStandin(["whatif", "compare", trace, "--policy", "fixed:60", "--out", out]);
  const { code, stdout } = await compare();
  expect({ code, files: readdirSync(directory) }).toEqual({ code: 0, files: ["report.html"] });
  expect(stdout).toContain(`Report: ${out}`);
  const html = readFileSync(out, "utf8");
  expect(html).toContain("<svg");
  expect((await compare()).code).toBe(0);
  expect(readFileSync(out, "utf8")).toBe(html);
  writeFileSync(out, "<html>mine</html>");
  const refused = await compare();
  expect([refused.code, refused.stderr]).toEqual([
    1,
    `standin: --out ${out}: the file already exists and is not a report; choose another file\n`,
  ]);
  expect(readFileSync(out, "utf8")).toBe("<html>mine</html>");
});

test.each(["fleet.csv", "fleet.standin-trace"])(
  "%s: fleet prints how many computes have requests, as curve does",
  async (name) => {
    const out = join(testDirectory(), name);
    const args = ["fleet", "--computes", "10", "--days", "1", "--seed", "2"];
    const { stdout } = await runStandin(["whatif", ...args, "--out", out]);
    const { traffic } = await runWhatif(["curve", out]);
    expect(traffic.computes_used).toBeLessThan(10);
    expect(stdout).toContain(` requests to ${traffic.computes_used} of 10 computes\n`);
    expect(await runWhatif([...args, "--out", join(testDirectory(), name)])).toMatchObject({
      computes: 10,
      computes_used: traffic.computes_used,
      requests: traffic.requests,
    });
  },
);

test("a columnar trace is read as is: options about the file format are rejected", async () => {
  const trace = await createShopTrace();
  const refused = [
    ["--map", "at=when"],
    ["--preset", "redset"],
    ["--endpoint", "ep-one"],
    ["--time-zone", "Europe/Berlin"],
    ["--format", "csv"],
  ];
  for (const args of refused) {
    const { code, stderr } = await runStandin(["whatif", "curve", trace, ...args]);
    expect({ args, code, stderr }).toEqual({
      args,
      code: 1,
      stderr: expect.stringMatching(
        /^standin: shop\.standin-trace: (an? .+ does not apply to the format standin-trace|the file is a standin-trace)/,
      ),
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
    "standin: bad.standin-trace: --strict: 1 bad row skipped by the import\n",
  ]);
});

test("import --max-size stops before the trace file is larger, and leaves none", async () => {
  const [trace, out] = [await createShopTrace("shop.csv"), join(testDirectory(), "shop.standin-trace")];
  const limited = (size: string) => runStandin(["whatif", "import", trace, "--out", out, "--max-size", size]);
  const { code, stdout, stderr } = await limited("100B");
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^standin: the trace would take at least [\d,]+ bytes; the limit is 100$/m);
  expect(existsSync(out)).toBe(false);
  expect((await limited("1GiB")).code).toBe(0);
  expect((await limited("large")).stderr).toContain("expected a size such as 500MiB, 4GiB or 2GB");
});
