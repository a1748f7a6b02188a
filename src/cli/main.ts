#!/usr/bin/env node
import { CommanderError } from "commander";
import { TraceInputError } from "../recordings/rows/recording-error.ts";
import { UserError } from "../remote/user-error.ts";
import { createProgram } from "./program.ts";
import { CliError } from "./terminal/cli-error.ts";

/** 0 done, 1 it could not be done, 2 the command line is not understood, or what it answers cannot be written. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

let hasStdoutFailed = false;
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  // Whoever reads no further, like `| head`, has what they wanted. The work goes on: how it ends is an answer, too.
  if (error.code === "EPIPE" || hasStdoutFailed) return;
  hasStdoutFailed = true;
  process.stderr.write(`standin: stdout cannot be written: ${error.message}\n`);
});
// Only then has the last of it been tried.
process.once("exit", () => {
  if (hasStdoutFailed) process.exitCode = EXIT_USAGE;
});

try {
  await (await createProgram(process.argv.slice(2))).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else if (error instanceof UserError) {
    process.stderr.write(`standin: ${error.message}\n`);
    process.exitCode = error instanceof CliError && error.isUsageError ? EXIT_USAGE : EXIT_FAILED;
  } else if (error instanceof TraceInputError) {
    // Met while a trace was read: its blocks prove themselves only then.
    process.stderr.write(`standin: ${error.message}\n`);
    process.exitCode = EXIT_FAILED;
  } else {
    // Not thrown on: Node would show the bundle's line that it comes from, which is all of the bundle.
    process.stderr.write(`standin: a bug: ${error instanceof Error ? error.stack : String(error)}\n`);
    process.exitCode = EXIT_FAILED;
  }
}
