import { Tracing } from "./tracing.ts";

/** The standard variables of OpenTelemetry that decide whether traces are exported. */
type Environment = Readonly<Record<string, string | undefined>>;

const PROTOCOLS = ["http/protobuf", "http/json"] as const;
const SAMPLERS = [
  "always_on",
  "always_off",
  "traceidratio",
  "parentbased_always_on",
  "parentbased_always_off",
  "parentbased_traceidratio",
];

export type OpenTracing = { readonly tracing: Tracing; readonly close: () => Promise<void> };

/** A variable of OpenTelemetry has a value that cannot be used. */
export class TracingVariableError extends Error {
  override readonly name = "TracingVariableError";
}

/** `undefined` unless an endpoint is set. The SDK is loaded only if it is. */
export async function openTracing(
  environment: Environment,
  options: { readonly version: string; readonly onWarning: (message: string) => void },
): Promise<OpenTracing | undefined> {
  if (!isEnabled(environment)) return undefined;
  checkEndpoint(environment, "OTEL_EXPORTER_OTLP_ENDPOINT");
  checkEndpoint(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
  checkChoice(environment, "OTEL_TRACES_SAMPLER", SAMPLERS);
  checkChoice(environment, "OTEL_EXPORTER_OTLP_PROTOCOL", PROTOCOLS);
  checkChoice(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", PROTOCOLS);
  const protocol = firstSet(environment, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  const { OtelSpans } = await import("./otel.ts");
  const spans = new OtelSpans({
    ...options,
    protocol: PROTOCOLS.find((known) => known === protocol) ?? PROTOCOLS[0],
  });
  return { tracing: new Tracing(spans), close: () => spans.close() };
}

function isEnabled(environment: Environment): boolean {
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return false;
  if (environment["OTEL_TRACES_EXPORTER"] === "none") return false;
  return (
    firstSet(environment, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT") !== undefined
  );
}

/** The first of the variables that is set. The standard treats an empty variable as not set. */
function firstSet(environment: Environment, ...names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]).find((value) => value !== undefined && value !== "");
}

function checkEndpoint(environment: Environment, name: string): void {
  const value = firstSet(environment, name);
  if (value === undefined) return;
  const isHttp = URL.canParse(value) && ["http:", "https:"].includes(new URL(value).protocol);
  if (!isHttp)
    throw new TracingVariableError(
      `${name}: expected an HTTP URL such as http://127.0.0.1:4318, got "${value}"`,
    );
}

function checkChoice(environment: Environment, name: string, choices: readonly string[]): void {
  const value = firstSet(environment, name);
  if (value !== undefined && !choices.includes(value))
    throw new TracingVariableError(`${name}: expected one of ${choices.join(", ")}, got "${value}"`);
}
