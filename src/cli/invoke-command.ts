import { CommanderError } from "commander";
import { isUserError, type UserError } from "../ports/user-error.ts";
import { checkSqliteModule, sqliteModuleError } from "../store/file/sqlite-module.ts";
import { RecordingError } from "../traffic/recorded/rows/recording-error.ts";
import { createProgram } from "./program.ts";
import { refusedAccess, systemMessage } from "./terminal/file-problem.ts";
import { InterruptedError } from "./terminal/interrupt.ts";
import { printError } from "./terminal/print.ts";

/**
 * Exit status 0: success. 1: the command failed. 2: usage error, or stdout cannot be written. 130: interrupted by
 * Ctrl-C.
 */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

/** Runs the command that the arguments of the process name, and sets its exit status. */
export async function runCommand(): Promise<void> {
  let hasStdoutFailed = false;
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // A reader such as `| head` may close the pipe early. The command still finishes, because its exit status
    // counts.
    if (error.code === "EPIPE" || hasStdoutFailed) return;
    hasStdoutFailed = true;
    printError(`standin: cannot write to stdout: ${error.message}\n`);
  });
  // Set at exit: a write to stdout may fail until then.
  process.once("exit", () => {
    if (hasStdoutFailed) process.exitCode = EXIT_USAGE;
  });

  try {
    checkSqliteModule();
    await (await createProgram(process.argv.slice(2))).parseAsync();
  } catch (thrown) {
    const error = sqliteModuleError(thrown) ?? thrown;
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
    } else if (isUserError(error)) {
      printError(`standin: ${error.message}\n`);
      process.exitCode = exitStatusOf(error);
    } else if (error instanceof RecordingError) {
      // The checksum of a block is verified only when the block is read, so a corrupt trace may be found late.
      printError(`standin: ${error.message}\n`);
      process.exitCode = EXIT_FAILED;
    } else if (error instanceof Error && refusedAccess(error) !== undefined) {
      printError(`standin: ${systemMessage(error)}\n`);
      process.exitCode = EXIT_FAILED;
    } else {
      // Not rethrown: Node would print the source line, which is the whole minified bundle.
      printError(
        `standin: internal error, please report it: ${error instanceof Error ? error.stack : String(error)}\n`,
      );
      process.exitCode = EXIT_FAILED;
    }
  }
}

function exitStatusOf(error: UserError): number {
  if (error instanceof InterruptedError) return error.exitStatus;
  return error.isUsageError ? EXIT_USAGE : EXIT_FAILED;
}
