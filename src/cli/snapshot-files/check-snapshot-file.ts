import { MIGRATIONS_FOLDER } from "../../app/package-root.ts";
import { checkSchema } from "../../store/file/check-schema.ts";
import { wrapFileErrors } from "../history/world-database.ts";
import { verifyWorldFile } from "../history/world-history.ts";
import { CliError } from "../terminal/cli-error.ts";
import { showProgress } from "../terminal/progress-display.ts";

/** Throws if a file is not a world, has tables or triggers of its own, or does not match its journal. */
export async function checkSnapshotFile(file: string, signal: AbortSignal): Promise<void> {
  wrapFileErrors(file, () => checkSchema(file, MIGRATIONS_FOLDER));
  const progress = showProgress("verifying the snapshot");
  try {
    const { ok, differences } = await verifyWorldFile(file, async (done, of) => {
      if (signal.aborted) throw new CliError("interrupted; nothing was changed");
      await progress.report(done, of);
    });
    const [first] = differences;
    if (!ok) throw new CliError(`${file} does not match its journal (${first?.where}: ${first?.message})`);
  } finally {
    progress.end();
  }
}
