import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FailedRunFile } from "../../../src/cli/run/failed-run.ts";
import { createProject, START } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const SCENARIO = { title: "shop", file: "shop.yaml", source: { version: 1 }, given: {} };

test("a run that is interrupted after a failure leaves nothing, and no run uses a file of the user for its own", async () => {
  const storage = await createTestDouble("in files");
  await createProject(storage.double());
  await storage.release();
  const { path: failures, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(failures, "shop.yaml");
  const foreign = "shop.failed.sqlite.unfinished";
  writeFileSync(join(failures, foreign), "mine");
  const failure = {
    at: new Date(START).toISOString(),
    what: "step 1",
    expected: "200",
    actual: "404",
    caused_by: [],
  };

  const interrupted = new FailedRunFile(path, storage.directory);
  await interrupted.capture(failure);
  expect(readdirSync(failures)).toEqual([
    expect.stringMatching(/^shop\.failed\.sqlite\.\d+-1\.unfinished$/),
    foreign,
  ]);
  interrupted.close();
  expect(readdirSync(failures)).toEqual([foreign]);

  const next = new FailedRunFile(path, storage.directory);
  await next.capture(failure);
  next.write(SCENARIO);
  next.close();
  expect(readdirSync(failures)).toEqual([foreign, "shop.yaml"]);
  expect(readFileSync(join(failures, foreign), "utf8")).toBe("mine");
});
