import { expect, onTestFinished, test, vi } from "vitest";
import { capacityCommand } from "../../../../src/cli/commands/whatif/capacity-command.ts";
import { compareCommand } from "../../../../src/cli/commands/whatif/compare-command.ts";
import { repeatCommand, resolvedQuestionFlags } from "../../../../src/cli/whatif/manifest.ts";
import { questionFrom } from "../../../../src/whatif/input/question.ts";
import { trafficOf } from "../../../../src/whatif/trace/traffic.ts";
import { builtInProfile } from "../../../../src/whatif/units/prices.ts";
import { DAY, traceOf } from "../../../support/traffic/traces.ts";

/** The repeat command in the manifest for this command line. */
function repeated(
  of: typeof compareCommand,
  typed: readonly string[],
  input: Parameters<typeof questionFrom> = [{}],
) {
  const command = of().action(() => {});
  command.parse([...typed], { from: "user" });
  const target =
    input[1] === undefined ? undefined : { data: "./.standin", world: "default", url: "http://x" };
  const traces = { traffic: trafficOf(traceOf(DAY)), world: input[1], target };
  return repeatCommand(
    ["whatif", command.name(), ...typed],
    command,
    resolvedQuestionFlags(questionFrom(...input), traces),
  );
}

test("the repeat command spells out every default, because another release may have other defaults", () => {
  const line = repeated(
    compareCommand,
    ["a b.csv", "--cu", "0.25", "--workers", "3", "--out", "report/", "--seed=7"],
    [{ cu: 0.25, seed: 7 }],
  );
  expect(line).toBe(
    "standin whatif compare 'a b.csv' --cu 0.25 --seed=7 --present 300 --profile 2024 --plan scale --prices 2026-03-20 --price-plan scale --cold-start-worth 300s --start-latency 3000ms --replications 10",
  );
});

test("the assumptions of capacity are spelled out, too", () => {
  const line = repeated(capacityCommand, ["a.csv", "--skew", "0", "--working-set", "1GiB"]);
  for (const flag of ["--load-per-request 1", "--reserved 7", "--blocks-per-request 10"])
    expect(line).toContain(flag);
  expect(line.match(/--skew/g)).toHaveLength(1);
  expect(line).not.toMatch(/--cu |--cold-start-worth/);
});

test("settings of a world are omitted, its period is spelled out, and the token is never included", () => {
  const world = {
    profile: "2024",
    latency: { kind: "fixed", ms: 3_000 },
    delays: [60, 300],
    cu: [1, 2],
  } as const;
  const line = repeated(compareCommand, ["--url", "http://x", "--control-token", "secret"], [{}, world]);
  expect(line).toBe(
    "standin whatif compare --url http://x --world default --from 2026-01-05T00:00:00.000Z --to 2026-01-06T00:00:00.000Z --plan scale --prices 2026-03-20 --price-plan scale --cold-start-worth 300s --seed 1 --replications 10",
  );
  const typed = ["--url", "http://x", "--profile", "2026", "--to", "2026-01-06"];
  expect(repeated(compareCommand, typed, [{ profile: builtInProfile("2026") }, world])).toBe(
    "standin whatif compare --url http://x --profile 2026 --to 2026-01-06 --world default --from 2026-01-05T00:00:00.000Z --plan scale --prices 2026-03-20 --price-plan scale --cold-start-worth 300s --start-latency 500ms --seed 1 --replications 10",
  );
});

test("a repeat command parses, and repeating it gives the same command", () => {
  const line = repeated(capacityCommand, ["a.csv"]);
  expect(repeated(capacityCommand, line.split(" ").slice(3))).toBe(line);
});

test("a world from the environment is spelled out, but not for trace files", () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("STANDIN_DATA", "/elsewhere");
  vi.stubEnv("STANDIN_URL", "http://x");
  vi.stubEnv("STANDIN_PROFILE", "2024");
  const world = { profile: "2026", latency: { kind: "fixed", ms: 500 }, delays: [300], cu: [1] } as const;
  expect(repeated(compareCommand, [], [{}, world])).toMatch(
    /^standin whatif compare --world default --url http:\/\/x --from \S+ --to \S+ --plan scale --prices/,
  );
  expect(repeated(compareCommand, ["a.csv"])).toMatch(
    /^standin whatif compare a\.csv --present 300 --profile 2024 /,
  );
});
