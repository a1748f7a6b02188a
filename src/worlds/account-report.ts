import { rmSync } from "node:fs";
import { accountReportPath } from "./directory-layout.ts";
import { readRecordFile, writeRecordFile } from "./record-file.ts";

/** What other delays would have cost the account whose past a world has. Only the control API knows its form. */
export type AccountReport = unknown;

export function readAccountReport(directory: string, world: string): AccountReport {
  return readRecordFile(accountReportPath(directory, world));
}

/** Replaces that of an earlier past; `undefined` removes it. */
export function writeAccountReport(directory: string, world: string, report: AccountReport): void {
  const path = accountReportPath(directory, world);
  if (report === undefined) rmSync(path, { force: true });
  else writeRecordFile(path, report);
}
