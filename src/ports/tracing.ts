import type { Satellite } from "./satellite.ts";

export type Attributes = Record<string, string | number | boolean>;

/** One span. Its exporter decides what becomes of it. */
export interface TraceSpan {
  setAttributes(attributes: Attributes): void;
  setName(name: string): void;
  /** Marks the span as failed. */
  setError(message: string): void;
  end(): void;
}

/** Creates spans: the edge to the OpenTelemetry SDK, which `@standin/tracing` contains. */
export interface SpanSource {
  /** The span of a request, which continues the trace of its `traceparent` header. */
  request(name: string, headers: Headers, attributes: Attributes): TraceSpan;
  child(parent: TraceSpan, name: string, attributes: Attributes, links?: readonly TraceSpan[]): TraceSpan;
}

/** The variables of the process. */
export type Environment = Readonly<Record<string, string | undefined>>;

export type OpenSpans = {
  readonly spans: SpanSource;
  /** Exports what is waiting. Never waits longer than a second for the collector. */
  readonly close: () => Promise<void>;
};

/** `@standin/tracing`. */
export type TracingSatellite = Satellite & {
  /**
   * Begins to export spans, as the standard variables of OpenTelemetry say. Throws a `UserError` for a variable that
   * cannot be used.
   */
  openSpans(
    environment: Environment,
    options: { readonly version: string; readonly onWarning: (message: string) => void },
  ): OpenSpans;
};
