import { expect, test } from "vitest";
import { backtestCommand } from "../../../../src/cli/commands/whatif/backtest-command.ts";
import { capacityCommand } from "../../../../src/cli/commands/whatif/capacity-command.ts";
import { compareCommand } from "../../../../src/cli/commands/whatif/compare-command.ts";
import { curveCommand } from "../../../../src/cli/commands/whatif/curve-command.ts";
import { startsCommand } from "../../../../src/cli/commands/whatif/starts-command.ts";
import { decisionLine } from "../../../../src/cli/whatif/decision-line.ts";

function lineOf(create: typeof compareCommand, args: readonly string[]): string | undefined {
  const command = create();
  // Only the options are parsed.
  command.args = command.parseOptions([...args]).operands;
  return decisionLine(["whatif", command.name(), ...args], command);
}

test("the line repeats the input and what advise knows, as they were typed", () => {
  expect(
    lineOf(compareCommand, ["a b.csv", "--policy", "never", "--present=5m", "--cu", "1", "--json"]),
  ).toBe("For a decision: standin advise 'a b.csv' --present 5m --cu 1");
  expect(lineOf(curveCommand, ["a.csv", "--by-compute", "--max-cost", "5", "--to", "2026-01-06"])).toBe(
    "For a decision: standin advise a.csv --to 2026-01-06",
  );
  expect(lineOf(backtestCommand, ["--url", "http://x", "--control-token", "secret", "--fold", "day"])).toBe(
    "For a decision: standin advise --url http://x",
  );
});

test("the plan of the price is the plan of advise, unless a plan is given", () => {
  expect(lineOf(capacityCommand, ["a.csv", "--price-plan", "launch"])).toBe(
    "For a decision: standin advise a.csv --plan launch",
  );
  expect(lineOf(curveCommand, ["a.csv", "--plan", "scale", "--price-plan", "launch"])).toBe(
    "For a decision: standin advise a.csv --plan scale",
  );
});

test("a command that is no detail of advise has no such line", () => {
  expect(lineOf(startsCommand, ["a.csv"])).toBeUndefined();
});
