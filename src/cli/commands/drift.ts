import { readFileSync } from "node:fs";
import { Command, Option } from "commander";
import { recordedCalls } from "../../drift/journaled-calls.ts";
import { parseCallList, type ReadCall, Side, WALK } from "../../drift/read-calls.ts";
import { compareShapes, type Difference, isRemark, shapeOf } from "../../drift/response-shape.ts";
import { addTargetOptions, requireServer, type Target } from "../client/client.ts";
import { apiUrl, errorOf, type PublicAnswer, PublicApi, printable, withKey } from "../client/public-api.ts";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { integer, jsonOption, option, secret } from "../terminal/option-parsers.ts";
import { showProgress } from "../terminal/progress-display.ts";

type Options = Target & {
  against: string;
  againstKey: string;
  apiKey?: string;
  list?: string;
  recorded?: boolean;
  projects?: number;
  json?: boolean;
};

const EXIT_DIFFERENT = 1;
/** So many the walk looks into. */
const PROJECTS = 3;

type Finding = Omit<Difference, "kind"> & { readonly kind: Difference["kind"] | "status" | "code" };
type Compared = {
  readonly call: string;
  readonly verdict: "same" | "different" | "not compared";
  readonly status: { readonly here: readonly number[]; readonly there: readonly number[] };
  readonly differences: readonly Finding[];
  /** What may be the content alone: optional fields, lists that are empty on one side. */
  readonly remarks: readonly Finding[];
  /** Why it could not be compared. */
  readonly reason?: string;
};

/** Whether the double still looks like what it stands in for. */
export function driftCommand(): Command {
  return addTargetOptions(new Command("drift"))
    .addOption(
      option("--key, --api-key <key>", "the double's key (default: one that is made for this and revoked)").argParser(
        secret("--key or STANDIN_API_KEY"),
      ),
    )
    .requiredOption("--against <url>", "base URL of the other server, ends in /api/v2", (text) => apiUrl("--against", text))
    .addOption(
      option("--against-key <key>", "its key; prefer the variable")
        .argParser(secret("--against-key or STANDIN_AGAINST_KEY"))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--list <file>", "the calls, one a line, like: GET /projects/{project_id}/branches (default: a walk)").conflicts(
        "projects",
      ),
    )
    .addOption(
      new Option("--recorded", "the calls that the double was asked, from its journal of requests").conflicts(["list", "projects"]),
    )
    .addOption(
      new Option("--projects <n>", `the walk looks into so many projects of each side (default: ${PROJECTS})`).argParser(integer(1, 100)),
    )
    .addOption(jsonOption())
    .addHelpText(
      "after",
      `
Only GET is sent. Statuses, error codes, fields and their types are compared; values are not.
Ends with 0 where nothing differs, 1 where something does, 2 where it could not run.

Examples:
  $ export STANDIN_AGAINST_KEY=…
  $ standin drift --against https://console.example.com/api/v2
  $ standin drift --against https://console.example.com/api/v2 --recorded
  $ standin drift --against https://console.example.com/api/v2 --list calls.txt --json`,
    )
    .action(async (options: Options) => {
      const compared = await failingAsTwo(() => interruptible((signal) => run(options, signal)));
      process.stdout.write(options.json === true ? `${JSON.stringify(reportOf(options, compared))}\n` : describe(options, compared));
      if (compared.some(({ verdict }) => verdict === "different")) process.exitCode = EXIT_DIFFERENT;
    });
}

/** 1 says that there are differences; whatever kept it from looking has to be another number. */
async function failingAsTwo<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CliError) throw new CliError(error.message, true);
    throw error;
  }
}

async function run(options: Options, signal: AbortSignal): Promise<Compared[]> {
  const listed = options.list === undefined ? undefined : readCallList(options.list);
  const server = await requireServer(options);
  const own = options.recorded === true ? await recordedCalls(server) : listed;
  if (own?.length === 0) throw new CliError("--recorded: the double has been asked nothing that could be asked again", true);
  const calls = own ?? WALK;
  // In calls of one's own, a placeholder is the first one listed.
  const projects = own === undefined ? (options.projects ?? PROJECTS) : 1;
  const other = new PublicApi(options.against, options.againstKey, signal);
  await checkKey(other, "--against-key or STANDIN_AGAINST_KEY");
  return withKey(server, options.apiKey, "standin drift", async (key) => {
    const double = new PublicApi(server.apiUrl, key, signal);
    await checkKey(double, "--key or STANDIN_API_KEY");
    return compareAll(calls, new Side(double, projects), new Side(other, projects));
  });
}

function readCallList(path: string): ReadCall[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(`--list ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`, true);
  }
  return parseCallList(text, path);
}

/** Two servers that both refuse the key would be found alike. */
async function checkKey(api: PublicApi, option: string): Promise<void> {
  const { status } = await api.get("/projects?limit=1");
  if (status === 401) throw new CliError(`${api.url} does not accept the key that ${option} gives (401)`);
}

async function compareAll(calls: readonly ReadCall[], here: Side, there: Side): Promise<Compared[]> {
  const progress = showProgress("Comparing calls");
  const compared: Compared[] = [];
  try {
    for (const call of calls) {
      const answers = await Promise.all([here.read(call), there.read(call)]);
      compared.push(compareCall(call, ...answers));
      await progress.report(compared.length, calls.length);
    }
  } finally {
    progress.end();
  }
  return compared;
}

type Read = Awaited<ReturnType<Side["read"]>>;

function compareCall({ template, withoutKey }: ReadCall, here: Read, there: Read): Compared {
  const call = `GET ${template}${withoutKey === true ? " (without a key)" : ""}`;
  const lacking =
    "lacks" in here ? `{${here.lacks}}: there is none here` : "lacks" in there ? `{${there.lacks}}: there is none there` : undefined;
  const [ours, theirs] = ["lacks" in here ? [] : here, "lacks" in there ? [] : there];
  const status = { here: statusesOf(ours), there: statusesOf(theirs) };
  if (lacking !== undefined) return { call, verdict: "not compared", status, differences: [], remarks: [], reason: lacking };
  const found = [...compareStatus(status), ...compareAnswers(ours, theirs)];
  const differences = found.filter((finding) => !isRemark(finding as Difference));
  const remarks = found.filter((finding) => isRemark(finding as Difference));
  return { call, verdict: differences.length > 0 ? "different" : "same", status, differences, remarks };
}

function statusesOf(answers: readonly PublicAnswer[]): number[] {
  return [...new Set(answers.map(({ status }) => status))].sort();
}

function compareStatus({ here, there }: Compared["status"]): Finding[] {
  if (here.join() === there.join()) return [];
  const kind = here.some((status) => there.includes(status)) ? "sometimes" : "status";
  return [{ path: "status", kind, here: here.join(" or "), there: there.join(" or ") }];
}

/** Answers of one status are compared with each other: an error has other fields than what was asked for. */
function compareAnswers(here: readonly PublicAnswer[], there: readonly PublicAnswer[]): Finding[] {
  return statusesOf(here).flatMap((status) => {
    const [ours, theirs] = [here, there].map((answers) => answers.filter((answer) => answer.status === status)) as [
      PublicAnswer[],
      PublicAnswer[],
    ];
    if (theirs.length === 0) return [];
    const [code, otherCode] = [ours, theirs].map((answers) => codesOf(answers)) as [string, string];
    const codes = status < 400 || code === otherCode ? [] : [{ path: "code", kind: "code", here: code, there: otherCode } as const];
    return [...codes, ...compareShapes(shapeOf(ours.map(bodyOf)), shapeOf(theirs.map(bodyOf)))];
  });
}

function codesOf(answers: readonly PublicAnswer[]): string {
  return [...new Set(answers.map((answer) => errorOf(answer).code ?? "none"))].sort().join(" or ");
}

/** What is no JSON is compared as nothing at all. */
function bodyOf({ body }: PublicAnswer): unknown {
  return body ?? null;
}

function summaryOf(compared: readonly Compared[]) {
  const count = (verdict: Compared["verdict"]) => compared.filter((call) => call.verdict === verdict).length;
  return {
    calls: compared.length,
    same: count("same"),
    different: count("different"),
    not_compared: count("not compared"),
    differences: compared.reduce((sum, { differences }) => sum + differences.length, 0),
    remarks: compared.reduce((sum, { remarks }) => sum + remarks.length, 0),
  };
}

function reportOf({ against }: Options, compared: readonly Compared[]) {
  return { against, calls: compared, summary: summaryOf(compared) };
}

const LONGEST_SHOWN = 120;

function describe({ against }: Options, compared: readonly Compared[]): string {
  const lines = compared.flatMap(({ call, verdict, status, differences, remarks, reason }) => [
    `${verdict.padEnd(12)}  ${call}  ${reason ?? [...new Set([...status.here, ...status.there])].join(" or ")}`,
    ...differences.map((difference) => `    ${describeFinding(difference)}`),
    ...remarks.map((remark) => `    (${describeFinding(remark)})`),
  ]);
  const { calls, same, different, not_compared, differences, remarks } = summaryOf(compared);
  const rest = not_compared === 0 ? "" : `, ${not_compared} not compared`;
  const inBrackets = remarks === 0 ? "" : `; in brackets, ${remarks} that the content may explain`;
  return `here: the double; there: ${against}\n${lines.join("\n")}\n${calls} calls: ${same} the same, ${different} different (${differences} differences)${rest}${inBrackets}\n`;
}

/** What another server says is shown shortened and without what would move the cursor. */
function describeFinding({ path, kind, here, there }: Finding): string {
  return printable(
    `${kind.padEnd(13)}  ${path.slice(0, LONGEST_SHOWN)}: ${here.slice(0, LONGEST_SHOWN)} here, ${there.slice(0, LONGEST_SHOWN)} there`,
  );
}
