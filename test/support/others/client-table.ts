import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { JudgedCall } from "./judging-proxy.ts";

const FILE = join(import.meta.dirname, "../../others/clients.json");
const SHOWN_FAULTS = 10;

/** A row of the table in docs/reference/clients.md. */
type ClientRow = {
  readonly client: string;
  readonly version: string;
  /** Number of functions or commands that ran. */
  readonly ran: number;
  readonly calls: number;
  readonly passed: number;
  readonly refused: number;
  readonly unlisted: number;
};

/**
 * Fails if an answer differs from the public document, or if clients.json has another row for the client.
 * With `STANDIN_UPDATE_CLIENTS=1`, writes the row instead.
 */
export function expectRow(client: string, version: string, ran: number, calls: readonly JudgedCall[]): void {
  const count = (verdict: string) => calls.filter((call) => call.verdict === verdict).length;
  const differences = calls.flatMap(({ operation, status, faults }) =>
    faults.map((fault) => `${operation} ${status}: ${fault}`),
  );
  expect(differences.slice(0, SHOWN_FAULTS)).toEqual([]);
  expect(count("different")).toBe(0);
  const row: ClientRow = {
    client,
    version,
    ran,
    calls: calls.length,
    passed: count("passed"),
    refused: count("refused"),
    unlisted: count("unlisted"),
  };
  const rows = readRows();
  const isSame = (other: ClientRow) => other.client === client && other.version === version;
  if (process.env["STANDIN_UPDATE_CLIENTS"] === "1") {
    const others = rows.filter((other) => !isSame(other));
    const sorted = [...others, row].sort(
      (a, b) => compare(a.client, b.client) || compare(a.version, b.version),
    );
    writeFileSync(FILE, `${JSON.stringify(sorted, undefined, 2)}\n`);
    return;
  }
  expect(
    row,
    "STANDIN_UPDATE_CLIENTS=1 npm run test:long -- others --maxWorkers 1 writes the new row",
  ).toEqual(rows.find(isSame));
}

function readRows(): readonly ClientRow[] {
  return JSON.parse(readFileSync(FILE, "utf8"));
}

function compare(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
