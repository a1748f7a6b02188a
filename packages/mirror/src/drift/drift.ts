import type { DriftRequest, MirrorHost, MirrorSatellite } from "@standin/standin/ports/mirror";
import {
  apiErrorOf,
  type PublicResponse,
  printable,
  type ServerApi,
} from "@standin/standin/ports/server-api";
import { UserError } from "@standin/standin/ports/user-error";
import { journaledCalls } from "./journaled-calls.ts";
import { ComparedServer, DEFAULT_CALLS, parseCallList, type ReadCall } from "./read-calls.ts";
import { compareShapes, isRemark, type ShapeDifference, shapeOf } from "./response-shape.ts";

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

/** Compares the answers of two servers to the same GET requests. */
export async function drift(host: MirrorHost, request: DriftRequest): ReturnType<MirrorSatellite["drift"]> {
  const comparisons = await compareServers(host, request);
  const { url } = request.against;
  return {
    json: { against: url, calls: comparisons, summary: summarizeDrift(comparisons) },
    text: describeDrift(host, url, comparisons),
    isDifferent: comparisons.some(({ verdict }) => verdict === "different"),
  };
}

async function compareServers(host: MirrorHost, request: DriftRequest): Promise<CallComparison[]> {
  const { against, list, isRecorded } = request;
  const listedCalls = list === undefined ? undefined : parseCallList(list.text, list.file);
  const server = await request.openServer();
  const givenCalls = isRecorded ? await journaledCalls(host, server.control) : listedCalls;
  if (givenCalls?.length === 0)
    throw new UserError("--recorded: the request log of the server has no call that can be repeated");
  const calls = givenCalls ?? DEFAULT_CALLS;
  // In given calls, a placeholder stands for the first listed resource.
  const projects = givenCalls === undefined ? request.projects : 1;
  await checkKey(against, "--against-key or STANDIN_AGAINST_KEY");
  return server.withApi(async (api) => {
    await checkKey(api, "--key or STANDIN_API_KEY");
    return compareAll(host, calls, new ComparedServer(api, projects), new ComparedServer(against, projects));
  });
}

/** Two servers that both reject their key would look the same. */
async function checkKey(api: ServerApi, option: string): Promise<void> {
  const { status } = await api.get("/projects?limit=1");
  if (status === 401) throw new UserError(`${api.url} rejected the API key of ${option} with status 401`);
}

function compareAll(
  { withProgress }: MirrorHost,
  calls: readonly ReadCall[],
  here: ComparedServer,
  there: ComparedServer,
): Promise<CallComparison[]> {
  return withProgress("comparing calls", async (report) => {
    const comparisons: CallComparison[] = [];
    for (const call of calls) {
      const responses = await Promise.all([here.read(call), there.read(call)]);
      comparisons.push(compareCall(call, ...responses));
      await report(comparisons.length, calls.length);
    }
    return comparisons;
  });
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

const MAX_SHOWN_LENGTH = 120;

function describeDrift(
  { plural }: MirrorHost,
  against: string,
  comparisons: readonly CallComparison[],
): string {
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
