import { Socket } from "node:net";
import { expect, test } from "vitest";
import { Log } from "../../../src/cli/server/log.ts";
import { DroppingStream, MAX_WAITING_LOG_BYTES } from "../../../src/cli/server/stderr-stream.ts";

/** A log whose entries the test reads. */
function recordingLog(level: string) {
  const entries: { msg: string; err: { message: string; stack?: string } }[] = [];
  const stream = {
    dropped: 0,
    write: (entry: string) => void entries.push(JSON.parse(entry)),
    close: async () => undefined,
  };
  return { log: new Log(level, stream), entries };
}

const failure = (message: string) => new Error(message);

test("the stack of an error is logged once, and at level debug each time", () => {
  for (const [level, stacks] of [
    ["info", 1],
    ["debug", 3],
  ] as const) {
    const { log, entries } = recordingLog(level);
    for (const message of ["one", "two", "three"]) log.error(failure(message), "commit failed");
    expect(entries.map(({ err }) => err.message)).toEqual(["one", "two", "three"]);
    expect(entries.filter(({ err }) => err.stack !== undefined)).toHaveLength(stacks);
  }
});

/** A pipe that accepts what the test lets through. */
class StuckPipe extends Socket {
  readonly written: string[] = [];
  isStuck = true;
  #waiting: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written.push(chunk.toString());
    if (this.isStuck) this.#waiting = done;
    else done();
  }

  override _writev = undefined as never;

  release(): void {
    this.isStuck = false;
    this.#waiting?.();
  }
}

test("log entries beyond the limit are dropped, counted, and reported once somebody reads again", async () => {
  const pipe = new StuckPipe();
  const stream = new DroppingStream(pipe);
  const entry = `${"x".repeat(1023)}\n`;
  const entries = 2 * (MAX_WAITING_LOG_BYTES / 1024);
  for (let i = 0; i < entries; i += 1) stream.write(entry);
  expect(pipe.writableLength).toBeLessThanOrEqual(MAX_WAITING_LOG_BYTES);
  expect(stream.dropped).toBe(entries / 2);
  pipe.release();
  await expect.poll(() => pipe.writableLength).toBe(0);
  stream.write("last\n");
  await expect.poll(() => pipe.written.at(-1)).toBe("last\n");
  expect(pipe.written.at(-2)).toContain(`dropped ${entries / 2} log entries`);
  await stream.close();
});

test("a log whose reader has gone drops entries instead of failing", async () => {
  const pipe = new StuckPipe();
  const stream = new DroppingStream(pipe);
  pipe.emit("error", new Error("EPIPE"));
  stream.write("lost\n");
  expect([pipe.destroyed, stream.dropped]).toEqual([true, 1]);
  await stream.close();
});
