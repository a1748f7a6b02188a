import { openAccountFile } from "../../account/account-file.ts";
import { AccountWriter } from "../../account/account-writer.ts";
import { type PullReport, pullAccount } from "../../account/pull.ts";
import type { DurationMs, SimTime } from "../../kernel/time.ts";
import { PublicApi } from "../../remote/client/public-api.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { printError } from "../terminal/print.ts";
import { showProgress } from "../terminal/progress-display.ts";

/** The oldest operation to read: an instant, or a time before that of the server. */
export type PullSince = { readonly at: SimTime } | { readonly agoMs: DurationMs };

export type PullIntoFile = {
  readonly from: string;
  readonly fromKey: string;
  /** The file to create or to continue. */
  readonly out: string;
  readonly since?: PullSince | undefined;
  readonly project?: readonly string[] | undefined;
  readonly org?: string | undefined;
  readonly redactNames?: boolean | undefined;
};

/** Reads what is new of an account into its file; prints progress and notes. */
export async function pullIntoFile(options: PullIntoFile, signal: AbortSignal): Promise<PullReport> {
  const { from, fromKey, out, since, project: projects, org: organization } = options;
  const database = openAccountFile(out, "create");
  const progress = showProgress("reading projects");
  try {
    const report = await pullAccount(
      new PublicApi(from, fromKey, signal),
      new AccountWriter(database, options.redactNames === true),
      {
        ...(since === undefined ? {} : "at" in since ? { since: since.at } : { sinceAgoMs: since.agoMs }),
        ...{ projects, organization },
      },
      (count, calls) =>
        printError(`reading ${plural(count, "project")} with at least ${plural(calls, "call")}\n`),
      progress.report,
    );
    for (const note of report.notes) printError(`note: ${note}\n`);
    return report;
  } finally {
    progress.end();
    database.close();
  }
}
