import { Command, InvalidArgumentError, Option } from "commander";
import type { ControlAnswer } from "../../control-api/document/answers.ts";
import type { ControlCall, ServerTarget } from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";
import { addFollowOptions, ENTRIES_PER_READ, type FollowedList, printList } from "../client/followed-list.ts";
import { expectedOneOf, invalidValue } from "../terminal/usage-errors.ts";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

type RequestPage = Extract<ControlAnswer<"GET /requests">, { readonly requests: unknown }>;
type RequestEntry = RequestPage["requests"][number];
type RequestFilters = { readonly status?: string; readonly method?: string; readonly path?: string };
type RequestsOptions = ServerTarget & RequestFilters & { since?: number; follow?: boolean; json?: boolean };

export function requestsCommand(): Command {
  return addFollowOptions(new Command("requests"), "requests")
    .addOption(
      new Option(
        "--status <status>",
        "only this status (423), class (5xx), or none: connection lost",
      ).argParser(parseStatusOption),
    )
    .addOption(new Option("--method <method>", "only this method, such as POST").argParser(parseMethodOption))
    .addOption(new Option("--path <text>", "only paths that contain this text"))
    .addHelpText(
      "after",
      `
Prints the requests of the platform API, not those of the control API. Without
--follow, also works without a server.

Examples:
  $ standin requests --follow
  $ standin requests --status 4xx
  $ standin requests --follow --json | jq -c '[.method, .path, .status]'`,
    )
    .action((options: RequestsOptions) => printList(requestLog(options), options));
}

/** The rule of GET /requests. */
function parseStatusOption(text: string): string {
  if (/^([1-5]\d\d|[1-5]xx|none)$/.test(text)) return text;
  throw invalidValue("a status such as 423, a class such as 5xx, or none for a lost connection");
}

function parseMethodOption(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  throw new InvalidArgumentError(expectedOneOf(METHODS, text));
}

function requestLog({ status, method, path }: RequestFilters): FollowedList<RequestEntry> {
  return {
    name: "requests",
    async read(call, since) {
      const { requests, next_since } = await readRequests(call, since, { status, method, path });
      return { entries: requests, next: next_since };
    },
    async head(call) {
      for (let since = 0; ; ) {
        const { requests, next_since } = await readRequests(call, since);
        if (requests.length < ENTRIES_PER_READ) return next_since;
        since = next_since;
      }
    },
    describe: ({ number, at, method: verb, path: target, operation_id, status: answer, code, fault }) =>
      [
        number,
        at,
        answer ?? "lost",
        `${verb} ${target}`,
        ...[operation_id, code, fault === undefined ? undefined : `fault ${fault}`].filter(
          (detail) => detail !== undefined && detail !== null,
        ),
      ].join("  "),
  };
}

async function readRequests(
  call: ControlCall,
  since: number,
  filters: Readonly<Record<string, string | undefined>> = {},
): Promise<RequestPage> {
  const query = { since, limit: ENTRIES_PER_READ, ...filters };
  // Without the parameter count, the answer is a page.
  return (await callRoute(call, "GET /requests", { query })) as RequestPage;
}
