import { Command, Option } from "commander";
import { MAX } from "../../input-limits/limits.ts";
import { apiErrorOf, PublicApi, type PublicResponse, printable } from "../../remote/client/public-api.ts";
import { UserError } from "../../remote/client/user-error.ts";
import { journaledCalls } from "../../remote/drift/journaled-calls.ts";
import {
  ComparedServer,
  DEFAULT_CALLS,
  parseCallList,
  type ReadCall,
} from "../../remote/drift/read-calls.ts";
import { compareShapes, isRemark, type ShapeDifference, shapeOf } from "../../remote/drift/response-shape.ts";
import { plural } from "../../whatif/units/number-format.ts";
import { parseApiUrl, withApiKey } from "../client/api-access.ts";
import { addTargetOptions, requireServer, type ServerTarget } from "../client/client.ts";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { InterruptedError, interruptible } from "../terminal/interrupt.ts";
import { integerParser, secretParser } from "../terminal/option-parsers.ts";
import { envOption, jsonOption } from "../terminal/options.ts";
import { print } from "../terminal/print.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { readText } from "../terminal/read-text.ts";

type DriftOptions = ServerTarget & {
  against: string;
  againstKey: string;
  apiKey?: string;
  list?: string;
  recorded?: boolean;
  projects?: number;
  json?: boolean;
};

const EXIT_DIFFERENT = 1;
const DEFAULT_PROJECTS = 3;

type DriftFinding = Omit<ShapeDifference, "kind"> & {
  readonly kind: ShapeDifference["kind"] | "status" | "code";
};
type CallComparison = {
  readonly call: string;
  readonly verdict: "same" | "different" | "not compared";
  readonly status: { readonly here: readonly number[]; readonly there: readonly number[] };
  readonly differences: readonly DriftFinding[];
  /** Findings that different data may explain: optional fields, lists that are empty on one side. */
  readonly remarks: readonly DriftFinding[];
  /** Why the call could not be compared. */
  readonly reason?: string;
};

/** Compares the simulator with the platform that it imitates. */
export function driftCommand(): Command {
  return addTargetOptions(new Command("drift"))
    .addOption(
      envOption("--key, --api-key <key>", "API key for standin (default: a temporary key)").argParser(
        secretParser("--key or STANDIN_API_KEY"),
      ),
    )
    .requiredOption("--against <url>", "base URL of the other server; ends in /api/v2", (text) =>
      parseApiUrl("--against", text),
    )
    .addOption(
      envOption("--against-key <key>", "API key for the other server; prefer the environment variable")
        .argParser(secretParser("--against-key or STANDIN_AGAINST_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        "--list <file>",
        "file of calls to compare, one per line, such as GET /projects/{project_id}/branches (default: a built-in list)",
      ).conflicts("projects"),
    )
    .addOption(
      new Option("--recorded", "compare the GET calls in the request log of the server").conflicts([
        "list",
        "projects",
      ]),
    )
    .addOption(
      new Option(
        "--projects <n>",
        `number of projects to read on each side (default: ${DEFAULT_PROJECTS})`,
      ).argParser(integerParser(1, 100)),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Sends only GET requests. Compares statuses, error codes, field names and field
types, but not values.

Exit status: 0 no differences, 1 differences, 2 the comparison could not run,
130 interrupted by Ctrl-C.

Examples:
  $ export STANDIN_AGAINST_KEY=…
  $ standin drift --against https://console.example.com/api/v2
  $ standin drift --against https://console.example.com/api/v2 --recorded
  $ standin drift --against https://console.example.com/api/v2 --list calls.txt --json`,
    )
    .action(async (options: DriftOptions) => {
      const comparisons = await withUsageExitCode(() => interruptible((signal) => runDrift(options, signal)));
      print(
        options.json === true
          ? `${JSON.stringify(driftReport(options, comparisons))}\n`
          : describeDrift(options, comparisons),
      );
      if (comparisons.some(({ verdict }) => verdict === "different")) process.exitCode = EXIT_DIFFERENT;
    });
}

/** Errors exit with 2, because 1 means that there are differences. */
async function withUsageExitCode<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError && !(error instanceof InterruptedError))
      throw new CliError(error.message, true);
    throw error;
  }
}

async function runDrift(options: DriftOptions, signal: AbortSignal): Promise<CallComparison[]> {
  const listedCalls = options.list === undefined ? undefined : readCallList(options.list);
  const server = await requireServer(options);
  const givenCalls = options.recorded === true ? await journaledCalls(server) : listedCalls;
  if (givenCalls?.length === 0)
    throw new CliError("--recorded: the request log of the server has no call that can be repeated", true);
  const calls = givenCalls ?? DEFAULT_CALLS;
  // In given calls, a placeholder stands for the first listed resource.
  const projects = givenCalls === undefined ? (options.projects ?? DEFAULT_PROJECTS) : 1;
  const otherApi = new PublicApi(options.against, options.againstKey, signal);
  await checkKey(otherApi, "--against-key or STANDIN_AGAINST_KEY");
  return withApiKey(server, options.apiKey, "standin drift", async (key) => {
    const localApi = new PublicApi(server.apiUrl, key, signal);
    await checkKey(localApi, "--key or STANDIN_API_KEY");
    return compareAll(calls, new ComparedServer(localApi, projects), new ComparedServer(otherApi, projects));
  });
}

function readCallList(path: string): ReadCall[] {
  let text: string;
  try {
    text = readText(path, MAX.settingsFile);
  } catch (error) {
    throw new CliError(`--list ${path}: ${fileProblem(error)}`, true);
  }
  return parseCallList(text, path);
}

/** Two servers that both reject their key would look the same. */
async function checkKey(api: PublicApi, option: string): Promise<void> {
  const { status } = await api.get("/projects?limit=1");
  if (status === 401) throw new CliError(`${api.url} rejected the API key of ${option} with status 401`);
}

async function compareAll(
  calls: readonly ReadCall[],
  here: ComparedServer,
  there: ComparedServer,
): Promise<CallComparison[]> {
  const progress = showProgress("comparing calls");
  const comparisons: CallComparison[] = [];
  try {
    for (const call of calls) {
      const responses = await Promise.all([here.read(call), there.read(call)]);
      comparisons.push(compareCall(call, ...responses));
      await progress.report(comparisons.length, calls.length);
    }
  } finally {
    progress.end();
  }
  return comparisons;
}

type ServerResponses = Awaited<ReturnType<ComparedServer["read"]>>;

function compareCall(
  { template, withoutKey }: ReadCall,
  here: ServerResponses,
  there: ServerResponses,
): CallComparison {
  const call = `GET ${template}${withoutKey === true ? " (without a key)" : ""}`;
  const missing =
    "lacks" in here
      ? `{${here.lacks}}: no such resource here`
      : "lacks" in there
        ? `{${there.lacks}}: no such resource there`
        : undefined;
  const [ours, theirs] = ["lacks" in here ? [] : here, "lacks" in there ? [] : there];
  const status = { here: statusesOf(ours), there: statusesOf(theirs) };
  if (missing !== undefined)
    return { call, verdict: "not compared", status, differences: [], remarks: [], reason: missing };
  const findings = [...compareStatus(status), ...compareResponses(ours, theirs)];
  const differences = findings.filter((finding) => !isRemark(finding as ShapeDifference));
  const remarks = findings.filter((finding) => isRemark(finding as ShapeDifference));
  return { call, verdict: differences.length > 0 ? "different" : "same", status, differences, remarks };
}

function statusesOf(responses: readonly PublicResponse[]): number[] {
  return [...new Set(responses.map(({ status }) => status))].sort();
}

function compareStatus({ here, there }: CallComparison["status"]): DriftFinding[] {
  if (here.join() === there.join()) return [];
  const kind = here.some((status) => there.includes(status)) ? "sometimes" : "status";
  return [{ path: "status", kind, here: here.join(" or "), there: there.join(" or ") }];
}

/** Compares responses of the same status: an error has other fields than a success. */
function compareResponses(here: readonly PublicResponse[], there: readonly PublicResponse[]): DriftFinding[] {
  return statusesOf(here).flatMap((status) => {
    const [ours, theirs] = [here, there].map((responses) =>
      responses.filter((response) => response.status === status),
    ) as [PublicResponse[], PublicResponse[]];
    if (theirs.length === 0) return [];
    const [code, otherCode] = [ours, theirs].map((responses) => errorCodesOf(responses)) as [string, string];
    const codes =
      status < 400 || code === otherCode
        ? []
        : [{ path: "code", kind: "code", here: code, there: otherCode } as const];
    return [...codes, ...compareShapes(shapeOf(ours.map(bodyOf)), shapeOf(theirs.map(bodyOf)))];
  });
}

function errorCodesOf(responses: readonly PublicResponse[]): string {
  return [...new Set(responses.map((response) => apiErrorOf(response).code ?? "none"))].sort().join(" or ");
}

/** A body that is not JSON is compared as null. */
function bodyOf({ body }: PublicResponse): unknown {
  return body ?? null;
}

function summarizeDrift(comparisons: readonly CallComparison[]) {
  const count = (verdict: CallComparison["verdict"]) =>
    comparisons.filter((call) => call.verdict === verdict).length;
  return {
    calls: comparisons.length,
    same: count("same"),
    different: count("different"),
    not_compared: count("not compared"),
    differences: comparisons.reduce((sum, { differences }) => sum + differences.length, 0),
    remarks: comparisons.reduce((sum, { remarks }) => sum + remarks.length, 0),
  };
}

function driftReport({ against }: DriftOptions, comparisons: readonly CallComparison[]) {
  return { against, calls: comparisons, summary: summarizeDrift(comparisons) };
}

const MAX_SHOWN_LENGTH = 120;

function describeDrift({ against }: DriftOptions, comparisons: readonly CallComparison[]): string {
  const lines = comparisons.flatMap(({ call, verdict, status, differences, remarks, reason }) => [
    `${verdict.padEnd(12)}  ${call}  ${reason ?? [...new Set([...status.here, ...status.there])].join(" or ")}`,
    ...differences.map((difference) => `    ${describeFinding(difference)}`),
    ...remarks.map((remark) => `    (${describeFinding(remark)})`),
  ]);
  const { calls, same, different, not_compared, differences, remarks } = summarizeDrift(comparisons);
  const notComparedText = not_compared === 0 ? "" : `, ${not_compared} not compared`;
  const remarksText = remarks === 0 ? "" : `; ${remarks} in parentheses may be due to different data`;
  return `here: standin; there: ${against}\n${lines.join("\n")}\n${plural(calls, "call")}: ${same} the same, ${different} different (${plural(differences, "difference")})${notComparedText}${remarksText}\n`;
}

/** Text of the other server is truncated and stripped of control characters. */
function describeFinding({ path, kind, here, there }: DriftFinding): string {
  return printable(
    `${kind.padEnd(13)}  ${path.slice(0, MAX_SHOWN_LENGTH)}: ${here.slice(0, MAX_SHOWN_LENGTH)} here, ${there.slice(0, MAX_SHOWN_LENGTH)} there`,
  );
}
