import { expect, test } from "vitest";
import { START } from "../../support/double/double.ts";
import { createTestDouble } from "../../support/double/history-requests.ts";
import { STORAGE_KINDS } from "../../support/double/storage-double.ts";
import { TestHost } from "../../support/double/test-host.ts";

test.each(STORAGE_KINDS)("%s: an operation that is due is read as it ended, by its id, too", async (kind) => {
  const host = new TestHost(START);
  const storage = await createTestDouble(kind, { hostClock: host.clock, clock: { mode: "real", factor: 1 } });
  const double = storage.double();
  const created = (await double.api("POST", "/projects", { project: {} })).body;
  const [first] = created.operations;
  host.passes(60_000);
  const { body } = await double.api("GET", `/projects/${created.project.id}/operations/${first.id}`);
  expect(body.operation.status).toBe("finished");
});
