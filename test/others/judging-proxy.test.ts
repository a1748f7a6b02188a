import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type JudgedCall, JudgingProxy } from "../support/others/judging-proxy.ts";

/** How the proxy judges an answer to `GET /projects`, and what the client gets. */
async function judged(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) {
  const proxy = await JudgingProxy.inFrontOf(
    () => new Response(body, { headers: { "Content-Type": "application/json", ...headers } }),
  );
  const received = await (await fetch(`${proxy.url}/projects`)).text();
  const calls: readonly JudgedCall[] = proxy.take();
  await proxy.close();
  return { received, verdicts: calls.map(({ verdict, faults }) => [verdict, ...faults]) };
}

const PROJECTS = '{"projects":[],"applications":{},"integrations":{}}';

test("compressed answers are judged as others, and clients get them", async () => {
  const compressed = new Uint8Array(gzipSync(PROJECTS));
  for (const answer of [await judged(PROJECTS), await judged(compressed, { "Content-Encoding": "gzip" })])
    expect(answer).toEqual({ received: PROJECTS, verdicts: [["passed"]] });
});

test("an answer that is not JSON, or has another field, is different", async () => {
  expect((await judged("{")).verdicts).toEqual([["different", "the body is not JSON"]]);
  const { verdicts } = await judged(PROJECTS.replace("}}", '},"invented":1}'));
  expect(verdicts).toEqual([["different", expect.stringContaining("invented")]]);
});
