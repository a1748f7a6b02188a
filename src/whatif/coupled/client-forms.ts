import { type DurationMs, parseDuration } from "../../kernel/time.ts";
import type { Client } from "./clients.ts";

/** A client that is created for each compute. */
export type ClientForm = { readonly name: string; readonly create: (compute: number) => Client };

/** Forms of `--client` with their meanings. */
export const CLIENT_FORMS: readonly { readonly form: string; readonly meaning: string }[] = [
  {
    form: "subscriber:reconnect=5s",
    meaning: "keeps a connection open; reconnects this long after a suspend closes it",
  },
  {
    form: "loop:think=10s,service=50ms,retry=1s",
    meaning:
      "closed loop: sends a request, waits for its end, thinks, repeats; exponential times with these means",
  },
  {
    form: "check:every=1d",
    meaning: "availability check at this interval; starts a suspended compute",
  },
];

/** Parses one form. Throws a RangeError that names the field and lists the forms. */
export function parseClient(text: string): ClientForm {
  const [kind = "", rest = "", ...more] = text.trim().split(":");
  const name = text.trim();
  if (more.length === 0 && kind === "subscriber") {
    const { reconnect } = parseTimes(name, rest, { reconnect: undefined });
    return { name, create: (compute) => ({ kind, compute, reconnectMs: reconnect }) };
  }
  if (more.length === 0 && kind === "loop") {
    const { think, service, retry } = parseTimes(name, rest, { think: undefined, service: 0, retry: 1_000 });
    return {
      name,
      create: (compute) => ({ kind, compute, thinkMs: think, serviceMs: service, retryMs: retry }),
    };
  }
  if (more.length === 0 && kind === "check") {
    const { every } = parseTimes(name, rest, { every: undefined });
    return { name, create: (compute) => ({ kind, compute, everyMs: every }) };
  }
  throw new RangeError(
    `client: "${name}" is not known; expected one of: ${CLIENT_FORMS.map(({ form }) => form).join(" · ")}`,
  );
}

/**
 * The duration of each option. One without a default is required; only a default of 0 allows less than 1 ms.
 */
function parseTimes<Name extends string>(
  text: string,
  rest: string,
  defaults: Readonly<Record<Name, DurationMs | undefined>>,
): Readonly<Record<Name, DurationMs>> {
  const optionNames = Object.keys(defaults) as Name[];
  const parsed = new Map<string, DurationMs>();
  for (const part of rest === "" ? [] : rest.split(",")) {
    const [option = "", value = ""] = part.split("=");
    if (!optionNames.some((name) => name === option))
      throw new RangeError(
        `client: unknown option "${option}" in "${text}"; expected ${optionNames.join(", ")}`,
      );
    const ms = parseDuration(value);
    if (ms === undefined || (ms < 1 && defaults[option as Name] !== 0))
      throw new RangeError(
        `client: ${option} in "${text}": expected a duration such as 5s or 10m, got "${value}"`,
      );
    parsed.set(option, ms);
  }
  const times = optionNames.map((name) => {
    const ms = parsed.get(name) ?? defaults[name];
    if (ms === undefined)
      throw new RangeError(`client: "${text}" needs ${name}, a duration such as 5s or 10m`);
    return [name, ms] as const;
  });
  return Object.fromEntries(times) as Record<Name, DurationMs>;
}
