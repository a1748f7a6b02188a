import { Tracing } from "../../app/tracing/tracing.ts";
import type { Environment, TracingSatellite } from "../../ports/tracing.ts";
import { isUserError } from "../../ports/user-error.ts";
import { loadSatellite } from "../satellites.ts";
import { CliError } from "../terminal/cli-error.ts";
import { VERSION } from "./version.ts";

export type OpenTracing = { readonly tracing: Tracing; readonly close: () => Promise<void> };

/** One of these standard variables of OpenTelemetry is set if traces are to be exported. */
const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

/**
 * `undefined` unless the environment asks for traces. Without the package it warns and continues: all containers of a
 * cluster may have these variables. Rejects with a `CliError` for a variable that cannot be used.
 */
export async function openTracing(
  environment: Environment,
  onWarning: (message: string) => void,
): Promise<OpenTracing | undefined> {
  const endpoint = endpointVariable(environment);
  if (endpoint === undefined) return undefined;
  let satellite: TracingSatellite;
  try {
    satellite = await loadSatellite("tracing", endpoint);
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    onWarning(`no traces are exported: ${error.message}`);
    return undefined;
  }
  try {
    const { spans, close } = satellite.openSpans(environment, { version: VERSION, onWarning });
    return { tracing: new Tracing(spans), close };
  } catch (error) {
    throw isUserError(error) ? new CliError(error.message, true) : error;
  }
}

/** The variable that asks for traces. The standard treats an empty variable as not set. */
function endpointVariable(environment: Environment): string | undefined {
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  if (environment["OTEL_TRACES_EXPORTER"] === "none") return undefined;
  return ENDPOINTS.find((name) => (environment[name] ?? "") !== "");
}
