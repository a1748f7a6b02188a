import { openAccountFile } from "../../src/account/account-file.ts";
import { AccountWriter } from "../../src/account/account-writer.ts";
import { HOUR, MINUTE, SECOND } from "../../src/kernel/time.ts";
import { randomFrom } from "../../src/simulation/random.ts";
import { IndexedStreams } from "../../src/whatif/units/draws.ts";

const BEGIN = Date.UTC(2026, 0, 5);
const DELAY_S = 300;
const START_MS = 500;
const COMPUTES_PER_PROJECT = 4;

/** Writes the file of an account whose computes start and suspend, about once in an hour and a half. */
export function writeLargeAccount(path: string, computes: number, periodsEach: number): void {
  const database = openAccountFile(path, "create");
  try {
    const writer = new AccountWriter(database, false);
    const draws = new IndexedStreams(randomFrom(1), "periods", computes);
    let endAt = BEGIN;
    for (let from = 0; from < computes; from += COMPUTES_PER_PROJECT) {
      const project = `project-${from}`;
      const ids = Array.from(
        { length: Math.min(COMPUTES_PER_PROJECT, computes - from) },
        (_, own) => from + own,
      );
      writer.addProjects([{ id: project, name: project, created_at: BEGIN - HOUR }], BEGIN, false);
      database.transaction(() => {
        writer.addEndpoints(project, ids.map(endpointOf), BEGIN);
        for (const number of ids) {
          const operations = operationsOf(number, periodsEach, draws);
          endAt = Math.max(endAt, operations.at(-1)?.created_at ?? BEGIN);
          writer.addOperations(project, operations);
        }
      })();
    }
    writer.addPull("http://127.0.0.1/api/v2", endAt + HOUR, undefined);
  } finally {
    database.close();
  }
}

function endpointOf(number: number) {
  return {
    ...{ id: `ep-${number}`, branch_id: `br-${number}`, type: "read_write", created_at: BEGIN - HOUR },
    ...{ autoscaling_limit_min_cu: 1, autoscaling_limit_max_cu: 1, suspend_timeout_seconds: DELAY_S },
  };
}

function operationsOf(number: number, count: number, draws: IndexedStreams) {
  const operations = [];
  const wholeSecond = (at: number) => Math.floor(at / SECOND) * SECOND;
  for (let [index, at] = [0, BEGIN]; index < count; index += 1) {
    at += draws.exponential(number, 80 * MINUTE);
    const own = { endpoint_id: `ep-${number}`, status: "finished", failures_count: 0 };
    const start = { ...own, action: "start_compute", total_duration_ms: START_MS };
    operations.push({ ...start, id: `${number}-${index}-a`, created_at: wholeSecond(at) });
    at += START_MS + draws.exponential(number, 3 * MINUTE) + DELAY_S * SECOND;
    const suspend = { ...own, action: "suspend_compute", total_duration_ms: 100 };
    operations.push({ ...suspend, id: `${number}-${index}-b`, created_at: wholeSecond(at) });
  }
  return operations;
}
