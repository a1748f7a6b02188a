import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { FailedRunFile } from "../../../src/cli/run/failed-run.ts";
import { createProject, START } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { temporaryDirectory } from "../../support/process/process.ts";

const SCENARIO = { title: "shop", file: "shop.yaml", source: { version: 1 }, given: {} };

test("a run that is interrupted after a failure leaves nothing that the next run must not replace", async () => {
  const storage = await createTestDouble("in files");
  await createProject(storage.double());
  await storage.release();
  const { path: failures, remove } = temporaryDirectory();
  onTestFinished(remove);
  const path = join(failures, "shop.yaml");
  const failure = {
    at: new Date(START).toISOString(),
    what: "step 1",
    expected: "200",
    actual: "404",
    caused_by: [],
  };

  await new FailedRunFile(path, storage.directory).capture(failure);

  const next = new FailedRunFile(path, storage.directory);
  expect(readdirSync(failures)).toEqual([]);
  await next.capture(failure);
  next.write(SCENARIO);
  expect(readdirSync(failures)).toEqual(["shop.yaml"]);
});
