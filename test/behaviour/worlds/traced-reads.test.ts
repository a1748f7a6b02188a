import { expect, test } from "vitest";
import { CommitBatches } from "../../../src/app/tracing/commit-batches.ts";
import { tracedWorld } from "../../../src/app/tracing/traced-world.ts";
import type { SpanSource, TraceSpan } from "../../../src/ports/tracing.ts";
import { createHeld } from "../../support/double/held-double.ts";

const span: TraceSpan = {
  setAttributes: () => undefined,
  setName: () => undefined,
  setError: () => undefined,
  end: () => undefined,
};
const spans: SpanSource = { request: () => span, child: () => span };

test("a traced read waits only for the sync of what it shows", async () => {
  const { double, syncs, isAnswered, durably } = await createHeld();
  const creation = async (name: string) =>
    (await durably(double.api("POST", "/projects", { project: { name } }))).body.project.id as string;
  const [shop, other] = [await creation("shop"), await creation("other")];
  const world = tracedWorld(double.world, span, spans, new CommitBatches(spans));
  const nameOf = async (id: string) =>
    world.read(
      (transaction) => transaction.world.projects.get(id)?.name,
      () => ({ project: { id }, keyId: undefined }),
    );
  const renamed = double.api("PATCH", `/projects/${shop}`, { project: { name: "renamed" } });
  await isAnswered(renamed);
  expect(syncs.held).toBe(1);
  const names = [nameOf(other), nameOf(shop)];
  expect(await Promise.all(names.map(isAnswered))).toEqual([true, false]);
  syncs.end();
  await renamed;
  expect(await Promise.all(names)).toEqual(["other", "renamed"]);
});
