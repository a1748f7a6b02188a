import { plural } from "../../whatif/units/number-format.ts";
import { formatTable } from "../terminal/text-table.ts";
import type { Agreement } from "./agreement.ts";

/** Surprises that are listed; all are in the JSON. */
const SHOWN_SURPRISES = 20;

/** The agreement for the terminal. */
export function agreementText(
  { agrees, checks, surprises, tolerance, since, until }: Agreement,
  path: string,
): string {
  const total = surprises.length;
  const notes = checks.flatMap(({ check, note }) => (note === null ? [] : [`${check}: ${note}`]));
  const rows = checks.map(({ check, compared, skipped, surprises: own, differences_ms: differences }) => [
    ...[check, String(compared), String(skipped), String(own)],
    differences === null
      ? ""
      : `${differences.least} to ${differences.most} ms, median ${differences.median} ms`,
  ]);
  const shown = surprises
    .slice(0, SHOWN_SURPRISES)
    .map(({ at, check, rule, evidence, text, compute, operation }) =>
      [
        `${at} ${[compute, operation && `operation ${operation}`].filter(Boolean).join(", ") || check}: ${text}`,
        `  rule (${evidence}): ${rule}`,
      ].join("\n"),
    );
  return [
    `${path}: ${since} to ${until}`,
    agrees
      ? `Agrees with the rules: ${plural(total, "surprise")}.`
      : `Differs from the rules: ${plural(total, "surprise")}, ${tolerance} tolerated.`,
    "",
    formatTable(["CHECK", "COMPARED", "SKIPPED", "SURPRISES", "DIFFERENCES"], rows),
    ...(notes.length === 0 ? [] : ["", ...notes]),
    ...(shown.length === 0 ? [] : ["", ...shown]),
    ...(total > SHOWN_SURPRISES ? [`and ${total - SHOWN_SURPRISES} more: see --json`] : []),
    "",
  ].join("\n");
}
