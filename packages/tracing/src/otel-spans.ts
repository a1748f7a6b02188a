import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from "@opentelemetry/api";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Attributes, SpanSource, TraceSpan } from "@standin/standin/ports/tracing";

export type OtelOptions = {
  readonly protocol: "http/json" | "http/protobuf";
  readonly version: string;
  readonly onWarning: (message: string) => void;
};

/** Failures to export are logged at most this often, in milliseconds. */
const WARN_EVERY_MS = 60_000;
/** How long the end of the server waits for the collector. */
const CLOSE_MS = 1_000;

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, key) => headers.get(key) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

class OtelSpan implements TraceSpan {
  readonly span: Span;
  constructor(span: Span) {
    this.span = span;
  }

  setAttributes(attributes: Attributes): void {
    this.span.setAttributes(attributes);
  }

  setName(name: string): void {
    this.span.updateName(name);
  }

  setError(message: string): void {
    this.span.setStatus({ code: SpanStatusCode.ERROR, message });
    this.span.setAttribute("error.type", message.replace(/^status /, ""));
  }

  end(): void {
    this.span.end();
  }
}

/**
 * Spans that the SDK samples, collects in a bounded queue and exports in the background. Limits, sampler and
 * exporter follow the standard variables, which the SDK reads.
 */
export class OtelSpans implements SpanSource {
  readonly #provider: BasicTracerProvider;
  readonly #propagator = new W3CTraceContextPropagator();

  constructor({ protocol, version, onWarning }: OtelOptions) {
    reportProblems(onWarning);
    const resource = resourceFromAttributes({ "service.name": "standin", "service.version": version }).merge(
      detectResources({ detectors: [envDetector] }),
    );
    const exporter = protocol === "http/json" ? new JsonExporter() : new ProtobufExporter();
    this.#provider = new BasicTracerProvider({
      resource,
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
  }

  request(name: string, headers: Headers, attributes: Attributes): TraceSpan {
    const parent = this.#propagator.extract(ROOT_CONTEXT, headers, HEADERS);
    return this.#start(name, SpanKind.SERVER, attributes, parent, []);
  }

  child(
    parent: TraceSpan,
    name: string,
    attributes: Attributes,
    links: readonly TraceSpan[] = [],
  ): TraceSpan {
    const context = trace.setSpan(ROOT_CONTEXT, (parent as OtelSpan).span);
    return this.#start(name, SpanKind.INTERNAL, attributes, context, links);
  }

  /** Exports what is waiting. Never waits longer than a second for the collector. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, CLOSE_MS);
    });
    await Promise.race([this.#provider.shutdown().catch(() => undefined), timeout]);
    clearTimeout(timer);
  }

  #start(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    parent: Context,
    links: readonly TraceSpan[],
  ): TraceSpan {
    const options = {
      kind,
      attributes,
      links: links.map((link) => ({ context: (link as OtelSpan).span.spanContext() })),
    };
    return new OtelSpan(this.#provider.getTracer("standin").startSpan(name, options, parent));
  }
}

/** A collector that is down fails every export, so most of its messages are omitted. */
function reportProblems(onWarning: (message: string) => void): void {
  let quietUntil = Number.NEGATIVE_INFINITY;
  const report = (message: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + WARN_EVERY_MS;
    onWarning(`traces: ${message.slice(0, 300)}`);
  };
  const ignore = () => undefined;
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
