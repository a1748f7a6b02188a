import { messageOf } from "../../../src/kernel/message-of.ts";
import { findTimeLibrary } from "../../../src/postgres/installations/time-library.ts";

/** With `required`, the missing library fails the tests that need it instead of skipping them. */
const isRequired = process.env["STANDIN_TEST_PROGRAMS"] === "required";

/** Whether SQL can have the clock of a world. Without the library, tests that need it are skipped. */
export function hasTimeLibrary(): boolean {
  try {
    findTimeLibrary();
    return true;
  } catch (error) {
    if (isRequired) throw error;
    process.stderr.write(`${messageOf(error)}, so tests with it are skipped\n`);
    return false;
  }
}
