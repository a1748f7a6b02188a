import { renameSync, rmSync, writeFileSync } from "node:fs";
import { PG_VERSIONS, PROFILE_NAMES, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { PLANS } from "../../platform/catalog/plan.ts";
import { REGIONS } from "../../platform/catalog/regions.ts";
import { resolveSizeRange } from "../../platform/catalog/sizes.ts";
import { COMPUTE_SETTINGS, defaultSettingFields } from "../../platform/model/compute.ts";
import { DEFAULT_PROJECT_SETTINGS } from "../../platform/rules/project/project-settings.ts";
import { PUBLIC_OPERATIONS } from "../../platform-api/coverage/public-operations.ts";
import type { MirrorHost, OwnServer, PlatformFacts } from "../../ports/mirror.ts";
import { ProjectCalls } from "../../remote/client/project-calls.ts";
import { PublicApi } from "../../remote/client/public-api.ts";
import { bodyOf, listAll, listProjects } from "../../remote/client/read-lists.ts";
import { parseSeedFile, SeedFileError } from "../../scenario/file/seed-schema.ts";
import { createUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { CliError } from "../terminal/cli-error.ts";
import { writeProblem } from "../terminal/file-problem.ts";
import { print } from "../terminal/print.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { withApiKey } from "./api-access.ts";
import type { ControlClient } from "./client.ts";

/** The setting with the value of the other server. */
const OF_THE_SERVER = "provisioner";

/** Functions that this package offers to `standin mirror` and `standin drift`. */
export function mirrorHost(): MirrorHost {
  const paths = new Map<string, string>(
    PUBLIC_OPERATIONS.map(({ operationId, path }) => [operationId, path]),
  );
  return {
    ...{ bodyOf, listAll, listProjects, plural, seedFileProblem, writeFile },
    projectChanges: (api, control) => new ProjectCalls(api, control),
    platform: platformFacts(),
    pathOf: (operationId) => paths.get(operationId),
    async withProgress(work, use) {
      const progress = showProgress(work);
      try {
        return await use(progress.report);
      } finally {
        progress.end();
      }
    },
  };
}

/** A running server, and its API with the given key or with a temporary one that `name` names. */
export function ownServer(
  server: ControlClient,
  apiKey: string | undefined,
  name: string,
  signal: AbortSignal,
): OwnServer {
  return {
    apiUrl: server.apiUrl,
    control: server,
    withApi: (use) =>
      withApiKey(server, apiKey, name, (key) => use(new PublicApi(server.apiUrl, key, signal))),
  };
}

function platformFacts(): PlatformFacts {
  const defaults = defaultSettingFields();
  return {
    regions: REGIONS.map(({ id }) => id),
    pgVersions: PG_VERSIONS,
    profiles: PROFILE_NAMES.map((name) => ({
      name,
      highestPgVersion: PROFILES[name].pgVersions.highest,
      hasSize(minCu, maxCu) {
        const range = { minCu, maxCu };
        return resolveSizeRange(PLANS.paid, PROFILES[name], range, range).ok;
      },
    })),
    suspendTimeout: PROFILES["2026"].suspendTimeout,
    computeSettings: Object.values(COMPUTE_SETTINGS)
      .filter(({ field }) => field !== OF_THE_SERVER)
      .map(({ field, kind }) => ({ name: field, kind, default: defaults[field] })),
    projectSettings: DEFAULT_PROJECT_SETTINGS,
  };
}

function seedFileProblem(text: string): string | undefined {
  try {
    parseSeedFile(text, "the inventory");
    return undefined;
  } catch (error) {
    if (error instanceof SeedFileError) return error.message;
    throw error;
  }
}

/** Writes the file atomically. */
function writeFile(out: string, text: string): void {
  if (out === "-") return void print(text);
  let temporaryPath: string | undefined;
  try {
    temporaryPath = createUnfinished(out);
    writeFileSync(temporaryPath, text);
    renameSync(temporaryPath, out);
  } catch (error) {
    if (temporaryPath !== undefined) rmSync(temporaryPath, { force: true });
    throw new CliError(`--out ${out}: cannot write the file: ${writeProblem(error)}`);
  }
}
