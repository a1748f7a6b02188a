import { closeSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { isoInstant } from "../../kernel/calendar.ts";
import { eachPart } from "../../traffic/recorded/trace/trace.ts";
import type { TraceFile } from "../../traffic/recorded/trace-files/trace-file.ts";
import { estimateTraceBytes, TraceWriter } from "../../traffic/recorded/trace-files/trace-writer.ts";
import { createUnfinished } from "../../traffic/recorded/trace-files/unfinished-file.ts";
import type { Traffic } from "../../whatif/trace/traffic.ts";
import { CliError } from "../terminal/cli-error.ts";
import { refusedAccess } from "../terminal/file-problem.ts";
import { noteLargeOutput } from "../terminal/large-output.ts";
import { runWithProgress } from "../terminal/run-with-progress.ts";

export const TRACE_SUFFIX = ".standin-trace";
const BUFFER_CHARACTERS = 1 << 20;

/** Amount written; computes without requests are not in the file. */
type WrittenTraffic = { readonly computesUsed: number; readonly requests: number };

/**
 * Writes traffic as CSV or as a columnar trace, depending on the suffix of `path`. The file appears only when
 * complete.
 */
export async function writeTraffic(
  traffic: Traffic,
  path: string,
  origin: string,
  signal: AbortSignal,
): Promise<WrittenTraffic> {
  noteLargeOutput(path, estimateBytes(traffic, path));
  try {
    const write = path.endsWith(TRACE_SUFFIX) ? writeTrace(traffic, path, origin) : writeCsv(traffic, path);
    return await runWithProgress(write, "writing computes", traffic.computes.length, signal);
  } catch (error) {
    if (error instanceof Error && "code" in error)
      throw new CliError(`${path}: ${refusedAccess(error) ?? error.message}`);
    throw error;
  }
}

/** At most this many computes, and at most this share of them, are sampled. */
const MAX_SAMPLED_COMPUTES = 8;
const SAMPLED_SHARE = 0.1;

/** Extrapolates the size of the file from a sample of the computes. */
function estimateBytes(traffic: Traffic, path: string): number {
  const { length } = traffic.computes;
  const sampled = Math.min(MAX_SAMPLED_COMPUTES, Math.ceil(length * SAMPLED_SHARE));
  let bytes = 0;
  for (let i = 0; i < sampled; i += 1) {
    const number = Math.floor((i * length) / sampled);
    const name = traffic.computes[number] ?? "";
    eachPart(traffic.arrivals(number), (part) => {
      const [first = 0] = part.at;
      const rowBytes = path.endsWith(TRACE_SUFFIX)
        ? estimateTraceBytes(1)
        : csvRow(traffic, name, first, part.durationMs[0] ?? 0, part.source?.[0] ?? 0).length;
      bytes += part.at.length * rowBytes;
    });
  }
  return sampled === 0 ? 0 : (bytes * length) / sampled;
}

function csvRow({ sources }: Traffic, name: string, at: number, durationMs: number, source: number): string {
  return `${name},${isoInstant(at)},${durationMs},${sources[source] ?? ""}\n`;
}

/** Traffic of a columnar trace; reads one compute at a time. */
export function trafficFromFile(file: TraceFile): Traffic {
  return {
    period: file.period,
    sources: file.sources,
    computes: file.computes.map(({ id }) => id),
    arrivals: (compute) => file.partsOf(compute),
  };
}

function* writeTrace(traffic: Traffic, path: string, origin: string): Generator<number, WrittenTraffic> {
  const writer = new TraceWriter(path);
  let isFinished = false;
  try {
    for (const [number, name] of traffic.computes.entries()) {
      let isUsed = false;
      eachPart(traffic.arrivals(number), ({ at, durationMs, source }) => {
        for (let i = 0; i < at.length; i += 1)
          writer.add(at[i] as number, durationMs[i] as number, source?.[i] ?? 0);
        isUsed ||= at.length > 0;
      });
      if (isUsed) writer.endCompute(name);
      yield number + 1;
    }
    const { rows, computes } = writer.finish(traffic.period, traffic.sources, {
      inputs: [origin],
      badRows: 0,
      skippedRows: 0,
      outsideRows: 0,
      notes: [],
    });
    isFinished = true;
    return { computesUsed: computes, requests: rows };
  } finally {
    if (!isFinished) writer.abandon();
  }
}

function* writeCsv(traffic: Traffic, path: string): Generator<number, WrittenTraffic> {
  const temporaryPath = createUnfinished(path);
  const file = openSync(temporaryPath, "w");
  let isOpen = true;
  let [computesUsed, requests] = [0, 0];
  try {
    let text = "endpoint_id,at,duration_ms,source\n";
    for (const [number, name] of traffic.computes.entries()) {
      const requestsBefore = requests;
      eachPart(traffic.arrivals(number), ({ at, durationMs, source }) => {
        for (let i = 0; i < at.length; i += 1) {
          text += csvRow(traffic, name, at[i] as number, durationMs[i] as number, source?.[i] ?? 0);
          if (text.length < BUFFER_CHARACTERS) continue;
          writeSync(file, text);
          text = "";
        }
        requests += at.length;
      });
      computesUsed += requests > requestsBefore ? 1 : 0;
      yield number + 1;
    }
    writeSync(file, text);
    closeSync(file);
    isOpen = false;
    renameSync(temporaryPath, path);
    return { computesUsed, requests };
  } finally {
    if (isOpen) closeSync(file);
    rmSync(temporaryPath, { force: true });
  }
}
