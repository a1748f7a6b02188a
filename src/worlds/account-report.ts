import { rmSync } from "node:fs";
import { accountReportPath } from "./directory-layout.ts";
import { readRecordFile, writeRecordFile } from "./record-file.ts";

/** What-if report that is stored beside a world that was created from an account's history. */
export type AccountReport = unknown;

export function readAccountReport(directory: string, world: string): AccountReport {
  return readRecordFile(accountReportPath(directory, world));
}

/** Replaces the stored report; `undefined` removes it. */
export function writeAccountReport(directory: string, world: string, report: AccountReport): void {
  const path = accountReportPath(directory, world);
  if (report === undefined) rmSync(path, { force: true });
  else writeRecordFile(path, report);
}
