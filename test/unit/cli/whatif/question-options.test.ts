import { expect, test } from "vitest";
import { whatIfCommand } from "../../../../src/cli/commands/whatif/whatif.ts";

/** The options of every what-if command whose value is a time. */
const TIMES = whatIfCommand().commands.flatMap((command) =>
  command.options
    .filter(({ flags }) => /<(delay|duration)>$/.test(flags))
    .map(({ flags, description }) => [command.name(), flags, description] as const),
);

test.each(TIMES)("%s %s names the unit of a number without a unit", (_, flags, description) => {
  const isSeconds = /^--(present|delay|cold-start-worth) /.test(flags);
  expect(description).toMatch(isSeconds ? /\d \(seconds\)/ : /\d \(milliseconds\)/);
});

test("all options with times are covered", () => {
  expect(new Set(TIMES.map(([, flags]) => flags.split(" ")[0]))).toEqual(
    new Set([
      "--present",
      "--delay",
      "--cold-start-worth",
      "--duration",
      "--start-latency",
      "--max-wait-p99",
      "--storage-read",
      "--refill",
      "--prepared-latency",
    ]),
  );
});
