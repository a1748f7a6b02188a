import type { Environment, OpenSpans, TracingSatellite } from "@standin/standin/ports/tracing";
import { UserError } from "@standin/standin/ports/user-error";
import { OtelSpans } from "./otel-spans.ts";

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
];

/** Begins to export spans. Throws a `UserError` for a variable that cannot be used. */
export function openSpans(
  environment: Environment,
  options: Parameters<TracingSatellite["openSpans"]>[1],
): OpenSpans {
  checkEndpoint(environment, "OTEL_EXPORTER_OTLP_ENDPOINT");
  checkEndpoint(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  checkChoice(environment, "OTEL_TRACES_SAMPLER", SAMPLERS);
  checkChoice(environment, "OTEL_EXPORTER_OTLP_PROTOCOL", PROTOCOLS);
  checkChoice(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", PROTOCOLS);
  const protocol =
    givenValue(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") ??
    givenValue(environment, "OTEL_EXPORTER_OTLP_PROTOCOL");
  const spans = new OtelSpans({
    ...options,
    protocol: PROTOCOLS.find((known) => known === protocol) ?? PROTOCOLS[0],
  });
  return { spans, close: () => spans.close() };
}

/** The standard treats an empty variable as not set. */
function givenValue(environment: Environment, name: string): string | undefined {
  const value = environment[name];
  return value === "" ? undefined : value;
}

function checkEndpoint(environment: Environment, name: string): void {
  const value = givenValue(environment, name);
  if (value === undefined) return;
  const isHttp = URL.canParse(value) && ["http:", "https:"].includes(new URL(value).protocol);
  if (!isHttp)
    throw new UserError(`${name}: expected an HTTP URL such as http://127.0.0.1:4318, got "${value}"`);
}

function checkChoice(environment: Environment, name: string, choices: readonly string[]): void {
  const value = givenValue(environment, name);
  if (value !== undefined && !choices.includes(value))
    throw new UserError(`${name}: expected one of ${choices.join(", ")}, got "${value}"`);
}
