import { expect, test } from "vitest";
import { whatIfCommand } from "../../../../src/cli/commands/whatif.ts";

/** Of every what-if command, its options whose value is a time. */
const TIMES = whatIfCommand().commands.flatMap((command) =>
  command.options
    .filter(({ flags }) => /<(delay|duration|time)>$/.test(flags))
    .map(({ flags, description }) => [command.name(), flags, description] as const),
);

test.each(TIMES)("%s %s says what a bare number is", (_, flags, description) => {
  const isSeconds = /^--(present|delay|cold-start-worth) /.test(flags);
  expect(description).toContain(isSeconds ? "a bare number is seconds" : "a bare number is milliseconds");
});

test("options with times are found", () => {
  expect(new Set(TIMES.map(([, flags]) => flags.split(" ")[0]))).toEqual(
    new Set([
      "--present",
      "--delay",
      "--cold-start-worth",
      "--start-latency",
      "--max-wait-p99",
      "--refill",
      "--prepared-latency",
    ]),
  );
});
