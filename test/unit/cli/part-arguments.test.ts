import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { backtestCommand } from "../../../src/cli/commands/whatif/backtest-command.ts";
import { compareCommand } from "../../../src/cli/commands/whatif/compare-command.ts";
import { checkedPart, PART_OPTIONS, RejectedPart } from "../../../src/cli/queue/part-arguments.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

/** Options of both commands that a part cannot have: they write, contact a server, or belong to the queue. */
const REFUSED = [
  ...["out", "data", "world", "url", "control-token", "workers"],
  ...["queue", "queue-key-file", "insecure", "parts"],
];

/** A directory with traces, beside a file that is none of them. */
function scene() {
  const { path, remove } = temporaryDirectory();
  onTestFinished(remove);
  const traces = join(path, "traces");
  mkdirSync(join(traces, "below"), { recursive: true });
  for (const file of ["secret.csv", "traces/calls.csv", "traces/below/more.csv", "traces/mine.yaml"])
    writeFileSync(join(path, file), "");
  symlinkSync(join(path, "secret.csv"), join(traces, "link.csv"));
  symlinkSync(path, join(traces, "above"));
  symlinkSync(join(traces, "calls.csv"), join(traces, "inner.csv"));
  const check = (args: readonly string[], directory = traces) =>
    checkedPart({ args: ["whatif", "compare", ...args], directory }, traces);
  return { path, traces, check };
}

test.each([compareCommand, backtestCommand])("each option is known as accepted or as refused", (command) => {
  const names = command().options.map(({ long }) => long?.slice(2) ?? "");
  expect(names.filter((name) => !(name in PART_OPTIONS) && !REFUSED.includes(name))).toEqual([]);
  expect(Object.keys(PART_OPTIONS).filter((name) => REFUSED.includes(name))).toEqual([]);
});

test("a part keeps its options and its files, with the values joined to their names", () => {
  const { traces, check } = scene();
  const args = [
    "calls.csv",
    "--policy",
    "fixed:60",
    "--profile=2026",
    "--json",
    "--shard",
    "1/2",
    "below/more.csv",
  ];
  expect(check(args)).toEqual({
    directory: traces,
    args: [
      ...["whatif", "compare", "--policy=fixed:60", "--profile=2026", "--json", "--shard=1/2"],
      ...["--", "calls.csv", "below/more.csv"],
    ],
  });
  for (const file of ["inner.csv", join(traces, "calls.csv"), "below/../calls.csv"]) check([file]);
  check(["calls.csv", "--profile", "mine.yaml"]);
  check(["../calls.csv"], join(traces, "below"));
});

test.each(REFUSED)("the option --%s is rejected in every form", (name) => {
  const { check } = scene();
  for (const form of [[`--${name}`, "x"], [`--${name}=x`]])
    expect(() => check([...form, "calls.csv"])).toThrow(RejectedPart);
});

test.each([
  [["-o", "x"]],
  [["--OUT", "x"]],
  [["--constructor", "x"]],
  [["--json=x"]],
  [["--policy"]],
  [["-"]],
  [Array.from({ length: 2_000 }, () => "calls.csv")],
  [["x".repeat(5_000)]],
])("arguments that no command sends are rejected", (args) => {
  expect(() => scene().check(args)).toThrow(RejectedPart);
});

test.each([["serve"], ["run", "x.yaml"], ["whatif", "apply"], ["whatif", "constructor"], []])(
  "another command is rejected: %s",
  (...args) => {
    const { traces } = scene();
    expect(() => checkedPart({ args, directory: traces }, traces)).toThrow(
      "a worker answers parts of whatif compare and backtest only",
    );
  },
);

test("a file that is not below the directory of the worker is rejected, and whether it exists is not said", () => {
  const { path, traces, check } = scene();
  const outside = ["../secret.csv", "/etc/passwd", "link.csv", "above/secret.csv", join(path, "secret.csv")];
  for (const file of [...outside, "no.csv", "/no/such/file", "../no.csv"])
    for (const args of [
      [file],
      ["--", file],
      ["calls.csv", "--profile", file],
      [`--profile=${file}`, "calls.csv"],
    ])
      expect(() => check(args)).toThrow(/ does not exist on .* below .*, the directory of --traces/);
  for (const directory of [path, "/", "above", join(traces, "above")])
    expect(() => check(["calls.csv"], directory)).toThrow(RejectedPart);
});

test("a worker without a directory of traces rejects all parts", () => {
  const { traces } = scene();
  expect(() =>
    checkedPart({ args: ["whatif", "compare", "calls.csv"], directory: traces }, undefined),
  ).toThrow(/reads no trace files; start it with --traces <dir>/);
});
