import { Command } from "commander";
import type { ServerTarget } from "../client/client.ts";
import { callRoute } from "../client/control-route.ts";
import { addFollowOptions, ENTRIES_PER_READ, type FollowedList, printList } from "../client/followed-list.ts";

type EventEntry = { readonly seq: number; readonly at: string; readonly type: string } & Readonly<
  Record<string, unknown>
>;
type EventsOptions = ServerTarget & { since?: number; follow?: boolean; json?: boolean };

/** The fields of an event, or of an object in it, that say what it is about. */
const SUBJECT_FIELDS = ["action", "id", "endpoint_id", "branch_id", "project_id", "operation_id", "cause"];

const JOURNAL: FollowedList<EventEntry> = {
  name: "events",
  async read(call, since) {
    const { events, next_since } = await callRoute(call, "GET /events", {
      query: { since, limit: ENTRIES_PER_READ },
    });
    return { entries: events, next: next_since };
  },
  async head(call) {
    const { history } = await callRoute(call, "GET /health/ready");
    return history.seq;
  },
  describe: (event) => [event.seq, event.at, event.type, ...subjectOf(event)].join("  "),
};

export function eventsCommand(): Command {
  return addFollowOptions(new Command("events"), "events")
    .addHelpText(
      "after",
      `
Without --follow, also works without a server. After a restore, --follow continues
with the new events of the restored world.

Examples:
  $ standin events --follow
  $ standin events --since 120 --json
  $ standin events --follow --json | jq -c 'select(.type == "ComputeSuspended")'`,
    )
    .action((options: EventsOptions) => printList(JOURNAL, options));
}

function subjectOf(event: EventEntry): string[] {
  const objects = [event, ...Object.values(event).filter(isObject)];
  return SUBJECT_FIELDS.flatMap((field) => {
    const value = objects.map((object) => object[field]).find((found) => typeof found === "string");
    return value === undefined ? [] : [`${field === "cause" ? "by " : ""}${value}`];
  });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
