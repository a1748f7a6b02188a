import { expect, test } from "vitest";
import { queueHost } from "../../../../src/cli/queue/queue-host.ts";
import { showQueueProgress } from "../../src/queue-progress.ts";

function shown(isTerminal: boolean) {
  let now = 0;
  let text = "";
  const progress = showQueueProgress(queueHost(), {
    isTerminal,
    write: (part) => {
      text += part;
    },
    clock: () => now,
  });
  const wait = (ms: number) => {
    now += ms;
  };
  return { progress, text: () => text, wait };
}

const here = (name: string) => ({ name, code: "1" });

test("one line has all workers, those with most runs first", () => {
  const { progress, text, wait } = shown(false);
  progress.start(20);
  progress.done(undefined, true);
  for (const worker of ["a", "b", "b", "c", "d", "e"]) progress.done(worker, false);
  wait(10_000);
  progress.workers(["a", "b", "c", "d", "e"].map(here), "1");
  expect(text()).toBe("running: 7 of 20, 19 s left, 1 reused, 5 workers (b 2, a 1, c 1, d 1, 1 more)\n");
  progress.end();
});

test("workers of other versions are named once, and the line is removed before a message", () => {
  const { progress, text, wait } = shown(true);
  progress.start(2);
  wait(2_000);
  progress.done("a", false);
  progress.workers([{ name: "host/1", code: "0" }], "1");
  progress.workers([{ name: "host/1", code: "0" }], "1");
  expect(text().match(/waiting for a worker/g)).toHaveLength(1);
  expect(text()).toContain(
    "\r\u001b[2Kstandin: waiting for a worker: start one with standin worker of version 1 (build and key); workers of other versions or keys: host/1 (0)\n",
  );
});
