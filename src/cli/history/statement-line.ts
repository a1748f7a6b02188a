import type { FailedStatement } from "../../scenario/file/failed-schema.ts";

const MAX_LENGTH = 200;

/** A statement of a failed test in one line: when and where, its text, and how it ended. */
export function statementLine({
  at,
  endpoint,
  database,
  role,
  text,
  parameters,
  outcome,
}: FailedStatement): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  const shown = flat.length > MAX_LENGTH ? `${flat.slice(0, MAX_LENGTH)}…` : flat;
  const values = parameters === 0 ? "" : ` (${parameters} ${parameters === 1 ? "parameter" : "parameters"})`;
  return `${at} ${endpoint} ${role}@${database}: ${shown}${values}: ${outcome}`;
}
