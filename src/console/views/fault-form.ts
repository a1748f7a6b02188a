import { control } from "../client/request.ts";
import { ask } from "../state/question.ts";
import { refreshAll } from "../state/refresh.ts";

/** An effect of the form: what it applies to, and its JSON for the value of the form. */
type Effect = {
  readonly label: string;
  readonly on: "requests" | "operations" | "connections";
  readonly of: (value: string) => unknown;
};

const EFFECTS: Readonly<Record<string, Effect>> = {
  answer: {
    label: "Answer requests with a status",
    on: "requests",
    of: (value) => ({ answer: { status: Number(value) } }),
  },
  latency: { label: "Delay requests", on: "requests", of: (value) => ({ latency: value }) },
  rate_limit: {
    label: "Limit the requests a second",
    on: "requests",
    of: (value) => ({ rate_limit: { requests: Number(value), per: "1s" } }),
  },
  drop: { label: "Close connections of requests", on: "requests", of: () => "drop" },
  lose_response: { label: "Execute requests, lose the response", on: "requests", of: () => "lose_response" },
  start_slower: {
    label: "Start computes slower",
    on: "operations",
    of: (value) => ({ start_slower: { by: value } }),
  },
  start_fails: {
    label: "Fail starts of computes",
    on: "operations",
    of: (value) => ({ start_fails: { times: Number(value) } }),
  },
  reject_connection: {
    label: "Reject Postgres connections with an SQLSTATE",
    on: "connections",
    of: (value) => ({ reject_connection: { code: value } }),
  },
  drop_connection: {
    label: "Close Postgres connections",
    on: "connections",
    of: () => "drop_connection",
  },
};

const TIMINGS = [
  { value: "always", label: "always" },
  { value: "first", label: "for the first n" },
  { value: "every", label: "for every nth" },
  { value: "probability", label: "with probability n" },
] as const;

/** Asks for a fault of the frequent kinds. */
export function addFault(): void {
  ask({
    title: "Add a fault",
    text: "The same seed triggers the same faults.",
    fields: [
      { name: "name", label: "Name", placeholder: "busy", isRequired: true },
      {
        name: "effect",
        label: "Effect",
        choices: Object.entries(EFFECTS).map(([value, { label }]) => ({ value, label })),
      },
      {
        name: "value",
        label: "Value",
        placeholder: "503",
        hint: "A status such as 503, a duration such as 3s or 1s..5s, a number, or an SQLSTATE such as 53300. Empty if the effect has none.",
      },
      {
        name: "target",
        label: "Only for",
        placeholder: "createProject",
        hint: "Operations of the API, or actions such as start_compute, separated by commas. Empty for all.",
      },
      { name: "timing", label: "When", choices: TIMINGS },
      { name: "n", label: "n", placeholder: "3" },
    ],
    action: "Add fault",
    onSubmit: async ({ name = "", effect = "", value = "", target = "", timing = "", n = "" }) => {
      await control("PUT", `/faults/${encodeURIComponent(name)}`, {
        on: scopeOf(EFFECTS[effect]?.on, target),
        when: timing === "always" ? {} : { [timing]: Number(n) },
        effect: EFFECTS[effect]?.of(value),
      });
      refreshAll();
    },
  });
}

function scopeOf(on: Effect["on"] | undefined, target: string): object {
  const names = target.split(",").map((name) => name.trim());
  if (target !== "") return on === "operations" ? { action: names } : { operation: names };
  return on === "requests" ? { operation: "*" } : {};
}
