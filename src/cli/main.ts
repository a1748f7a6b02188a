#!/usr/bin/env node
import { CommanderError } from "commander";
import { TraceInputError } from "../whatif/input/input-error.ts";
import { CliError } from "./cli-error.ts";
import { createProgram } from "./program.ts";

/** 0 done, 1 it could not be done, 2 the command line is not understood. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

// Whoever reads no further, like `| head`, has what they wanted.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

try {
  await (await createProgram(process.argv.slice(2))).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  } else if (error instanceof CliError) {
    process.stderr.write(`standin: ${error.message}\n`);
    process.exitCode = error.usage ? EXIT_USAGE : EXIT_FAILED;
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
