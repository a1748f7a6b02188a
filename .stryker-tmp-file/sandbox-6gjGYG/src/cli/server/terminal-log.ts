// @ts-nocheck
import { styleText } from "node:util";
import { printable } from "../terminal/print.ts";
import type { LogStream } from "./stderr-stream.ts";

/** An entry of the log as pino writes it: one JSON object per line. */
type LogEntry = {
  readonly level: number;
  readonly time: string;
  readonly sim?: string;
  readonly msg?: string;
  readonly err?: { readonly message?: string; readonly stack?: string };
  readonly [field: string]: unknown;
};

/** The levels of pino, by number. */
const LEVELS: Readonly<Record<number, readonly [name: string, colour: "dim" | "green" | "yellow" | "red"]>> =
  {
    20: ["debug", "dim"],
    30: ["info", "green"],
    40: ["warn", "yellow"],
    50: ["error", "red"],
  };

/** Writes entries as text for a terminal. Any other reader gets JSON. */
export function terminalLog(stream: LogStream, isColoured: boolean): LogStream {
  return {
    write: (line) => stream.write(formatLogLine(line, isColoured)),
    get dropped() {
      return stream.dropped;
    },
    close: () => stream.close(),
  };
}

/** `09:41:07 info  took backup nightly (sim 2026-01-01T00:05:00.000Z)` */
export function formatLogLine(line: string, isColoured: boolean): string {
  const { level, time, sim, msg, err, ...fields } = JSON.parse(line) as LogEntry;
  const [name, colour] = LEVELS[level] ?? [String(level), "dim"];
  const paint = (format: "dim" | "green" | "yellow" | "red", text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  const values = Object.entries(fields).map(([key, value]) => `${key}=${String(value)}`);
  const notes = [...values, ...(sim === undefined ? [] : [`sim ${sim}`])];
  const parts = [
    paint("dim", time.slice(11, 19)),
    paint(colour, name.padEnd(5)),
    msg ?? "",
    ...(notes.length === 0 ? [] : [paint("dim", `(${notes.join(", ")})`)]),
  ];
  const stack = err === undefined ? "" : `${err.stack ?? err.message ?? ""}\n`;
  // Messages may contain names, which any client can choose.
  return printable(`${parts.join(" ")}\n${stack}`);
}
