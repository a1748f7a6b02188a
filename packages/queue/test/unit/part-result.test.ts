import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { queueHost } from "../../../../src/cli/queue/queue-host.ts";
import { temporaryDirectory } from "../../../../test/support/process/process.ts";
import { answerPart, END_WITH_PARENT } from "../../src/part-result.ts";

test("the process of a part ends when that of its worker has ended", async () => {
  const endless = ["--import", END_WITH_PARENT, "-e", "setInterval(() => process.stdout.write('.'), 20)"];
  const part = spawn(process.execPath, endless, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
  onTestFinished(() => void part.kill("SIGKILL"));
  const ended = once(part, "exit");
  if (part.stdout === null) throw new Error("no output");
  await once(part.stdout, "data");
  part.disconnect();
  expect(await ended).toEqual([1, null]);
});

test("the process of a part ends with its command although it is connected to the worker", async () => {
  const part = spawn(process.execPath, ["--import", END_WITH_PARENT, "-e", "0"], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => void part.kill("SIGKILL"));
  expect(await once(part, "exit")).toEqual([0, null]);
});

const HOST = queueHost();
const PART = { id: "1", run: "1", isReusable: false, title: "whatif compare 1/1" };

test("a part that may not be answered has the reason as its result, and starts no process", async () => {
  const { path: directory, remove } = temporaryDirectory();
  onTestFinished(remove);
  const part = { ...PART, args: ["whatif", "compare", "calls.csv"], directory };
  expect(await answerPart(HOST, { ...part, args: ["serve"] }, directory)).toEqual({
    verdict: "could_not_run",
    reason: "a worker answers parts of whatif compare and backtest only",
  });
  expect(await answerPart(HOST, part, directory)).toMatchObject({
    verdict: "could_not_run",
    reason: expect.stringMatching(
      /calls\.csv does not exist on .* below .*; give all workers the same files there/,
    ),
  });
});
