import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { connect, createBranch, serverForTests } from "../support/postgres/postgres.ts";
import { runStandin } from "../support/process/in-process-command.ts";
import { expectHolds } from "../support/properties/properties.ts";
import { testDirectory } from "../support/server/running-server.ts";
import { anyRequests, csvOf, gapRowsOf, type Request, tableOf } from "../support/traffic/gap-requests.ts";

const server = await serverForTests(["--operations", "immediate", "--clock", "manual"]);

const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const FLAGS = ["--present", "300", "--cu", "0.25", "--by-compute", "--json"];

/** Prints nothing on stderr but notes. */
async function succeed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runStandin(args);
  expect({ args, code, stderr: stderr.replaceAll(/^note: .*\n/gm, "") }).toEqual({
    args,
    code: 0,
    stderr: "",
  });
  return stdout;
}

test("the printed query, run by Postgres, gives the answer of the requests themselves", async () => {
  const { uri } = await createBranch(server);
  const client = await connect(uri);
  await client.query("create table calls (db text, at timestamptz, ms bigint)");
  const query = await succeed(
    ...["whatif", "sql", "--dialect", "postgres", "--table", "calls"],
    ...["--map", "endpoint=db,at=at,duration=ms"],
  );
  const ask = async (requests: readonly Request[]) => {
    await client.query("truncate calls");
    const columns = [
      requests.map(({ compute }) => compute),
      requests.map(({ at }) => new Date(at).toISOString()),
      requests.map(({ durationMs }) => durationMs),
    ];
    await client.query(
      "insert into calls select * from unnest($1::text[], $2::timestamptz[], $3::bigint[])",
      columns,
    );
    const { rows, fields } = await client.query({ text: query, rowMode: "array" });
    return [fields.map(({ name }) => name), ...rows]
      .map((row) => row.map((cell: unknown) => quoted(String(cell))).join(","))
      .join("\n");
  };

  // A session's zone must not matter.
  await client.query("set time zone 'America/New_York'");
  let last: { readonly requests: readonly Request[]; readonly csv: string } | undefined;
  await expectHolds(
    fc.asyncProperty(anyRequests, async (requests) => {
      last = { requests, csv: await ask(requests) };
      const out = join(testDirectory(), "gaps.csv");
      writeFileSync(out, last.csv);
      expect(await succeed("whatif", "merge", out)).toBe(csvOf(tableOf(gapRowsOf(requests))));
    }),
    10,
  );

  const directory = testDirectory();
  const [gaps, calls, merged] = ["gaps.csv", "calls.csv", "merged.csv"].map((name) =>
    join(directory, name),
  ) as [string, string, string];
  writeFileSync(gaps, last?.csv ?? "");
  expect(await succeed("whatif", "merge", gaps, "--out", merged)).toMatch(
    /^.*merged.csv: \d+ rows? of \d computes?\n$/,
  );
  const byTime = (last?.requests ?? []).toSorted((a, b) => a.at - b.at);
  writeFileSync(
    calls,
    [
      "endpoint,at,duration_ms",
      ...byTime.map(({ compute, at, durationMs }) => [quoted(compute), at, durationMs].join(",")),
    ].join("\n"),
  );
  const {
    input: _,
    limits: __,
    ...expected
  } = JSON.parse(await succeed("whatif", "curve", calls, "--start-latency", "0", ...FLAGS));
  const sources = [
    [["--gaps", gaps], { gaps: "gaps.csv" }],
    [["--gaps", merged], { gaps: "merged.csv" }],
    [
      ["--from", uri, "--table", "calls", "--map", "endpoint=db,at=at,duration=ms", "--memory", "64MiB"],
      { table: "calls" },
    ],
  ] as const;
  for (const [source, file] of sources) {
    const { input, limits, ...answer } = JSON.parse(await succeed("whatif", "curve", ...source, ...FLAGS));
    expect(answer).toEqual(expected);
    expect(input.files).toMatchObject([file]);
    expect(JSON.stringify(limits.left_out)).toContain("the input is gaps without their requests");
  }
});
