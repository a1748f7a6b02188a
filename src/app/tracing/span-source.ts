export type Attributes = Record<string, string | number | boolean>;

/** One span. Its exporter decides what becomes of it. */
export interface TraceSpan {
  setAttributes(attributes: Attributes): void;
  setName(name: string): void;
  /** Marks the span as failed. */
  setError(message: string): void;
  end(): void;
}

/** Creates spans: the edge to the OpenTelemetry SDK, which only a server that exports traces loads. */
export interface SpanSource {
  /** The span of a request, which continues the trace of its `traceparent` header. */
  request(name: string, headers: Headers, attributes: Attributes): TraceSpan;
  child(parent: TraceSpan, name: string, attributes: Attributes, links?: readonly TraceSpan[]): TraceSpan;
}
