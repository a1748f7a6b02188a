import { probeServer } from "../../../app/server-probe.ts";
import type { ControlApi } from "../../../ports/server-api.ts";
import { PublicApi } from "../../../remote/client/public-api.ts";
import { plural } from "../../../whatif/units/number-format.ts";
import { withApiKey } from "../../client/api-access.ts";
import { findServer } from "../../client/client.ts";
import { CliError } from "../../terminal/cli-error.ts";
import { showProgress } from "../../terminal/progress-display.ts";
import { findComputes, type ServerTarget, type ServerTargets, setDelays } from "./apply-delays.ts";
import type { ComputeDelay } from "./saved-answer.ts";

export type ServerAccess = {
  readonly apiKey?: string | undefined;
  readonly controlToken?: string | undefined;
  /** Only looks up the computes. */
  readonly dryRun?: boolean | undefined;
  /** Allows changes of a server that is not standin. */
  readonly yes?: boolean | undefined;
};

/** Called before the first change. Returns the text that errors add about how to undo the changes. */
type BeforeChanges = (changed: readonly ServerTarget[]) => string;

/** Finds the computes on a server and sets their delays, unless it is a dry run. */
export async function setOnServer(
  to: string,
  delays: readonly ComputeDelay[],
  { apiKey, controlToken, dryRun = false, yes = false }: ServerAccess,
  signal: AbortSignal,
  beforeChanges: BeforeChanges,
): Promise<ServerTargets> {
  const double = await findDouble(to, controlToken);
  if (double === undefined && !yes && !dryRun)
    throw new CliError(
      `${to} is not a standin server; nothing was changed. Check the calls with --dry-run, then repeat with --yes`,
    );
  return withKey(double, to, apiKey, async (key) => {
    const api = new PublicApi(to, key, signal);
    const targets = await findComputes(api, delays);
    if (targets.missing.length === delays.length)
      throw new CliError(`${to} has none of the ${plural(delays.length, "compute")} to change`);
    if (dryRun || targets.changed.length === 0) return targets;
    const howToUndo = beforeChanges(targets.changed);
    await withProgress((report) => setDelays(api, double, targets.changed, report, howToUndo));
    return targets;
  });
}

/** The control API of the server if it is standin. */
async function findDouble(to: string, controlToken: string | undefined): Promise<ControlApi | undefined> {
  const live = await probeServer(to.replace(/\/api\/v2$/, ""));
  if (typeof live?.pid !== "number") return undefined;
  // The path of a world is part of the URL.
  return findServer({ data: "", world: "default", url: to, ...(controlToken && { controlToken }) });
}

async function withKey(
  double: ControlApi | undefined,
  to: string,
  apiKey: string | undefined,
  use: (key: string) => Promise<ServerTargets>,
): Promise<ServerTargets> {
  if (double !== undefined) return withApiKey(double, apiKey, "standin whatif apply", use);
  if (apiKey === undefined) throw new CliError(`${to} is not a standin server; it needs --key`, true);
  return use(apiKey);
}

async function withProgress(
  use: (report: ReturnType<typeof showProgress>["report"]) => Promise<void>,
): Promise<void> {
  const progress = showProgress("setting delays");
  try {
    await use(progress.report);
  } finally {
    progress.end();
  }
}
