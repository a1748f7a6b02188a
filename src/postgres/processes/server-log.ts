/**
 * Statements of clients and the values of their parameters are not logged: they may contain passwords. Clients cannot
 * change these settings.
 */
export const LOG_SETTINGS = {
  log_destination: "stderr",
  logging_collector: "off",
  log_line_prefix: "[%b] ",
  log_statement: "none",
  log_min_duration_statement: -1,
  log_min_error_statement: "panic",
  log_parameter_max_length: 0,
  log_parameter_max_length_on_error: 0,
};

/** Processes that run no statement of a client. */
const SERVER_PROCESSES = [
  "postmaster",
  "startup",
  "checkpointer",
  "background writer",
  "walwriter",
  "walreceiver",
  "archiver",
  "not initialized",
];
const PREFIXED = /^\[([a-z ]+)\] (LOG|WARNING|ERROR|FATAL|PANIC|HINT): /;

/**
 * A line of the log as it may be shown: without its prefix, and only of what no client has written. The processes of
 * clients log what functions raise, and the details of a crash quote the statement that was running.
 */
export function serverLogLine(line: string): string | undefined {
  const [prefix, process, severity] = PREFIXED.exec(line) ?? [];
  if (prefix !== undefined && severity !== undefined)
    return SERVER_PROCESSES.includes(process ?? "") ? line.slice((process ?? "").length + 3) : undefined;
  // Before Postgres reads its settings, and by the loader of programs. What follows the first line of a message is indented.
  return /^(?:\[|\s|$)/.test(line) ? undefined : line;
}
