import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { TransferOptions } from "../../../../src/ports/object-store.ts";
import { testDirectory } from "../../../../test/support/server/running-server.ts";
import { downloadFile, MAX_ATTEMPTS, uploadFile } from "../../src/object-transfer.ts";
import { startObjectStore } from "../support/object-store.ts";

const BYTES = Buffer.alloc(3_000_000, "standin");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const SLOW_DOWN = { status: 503, code: "SlowDown" } as const;

function options(more: Partial<TransferOptions> = {}): TransferOptions {
  return {
    signal: new AbortController().signal,
    progress: async () => undefined,
    onRetry: () => undefined,
    firstDelayMs: 1,
    ...more,
  };
}

async function scene() {
  const store = await startObjectStore();
  const directory = testDirectory();
  const [file, copy] = [join(directory, "file"), join(directory, "copy")];
  writeFileSync(file, BYTES);
  const url = (method: "GET" | "PUT") => new URL(store.presign(method, "a/b.sqlite"));
  return { store, file, copy, put: url("PUT"), get: url("GET") };
}

test("a file that was uploaded is downloaded with the same bytes, and only its user can read it", async () => {
  const { file, copy, put, get, store } = await scene();
  const reported: number[] = [];
  const progress = async (done: number, of: number) => void reported.push(done / of);
  await uploadFile(file, put, options({ progress }));
  expect(reported.at(-1)).toBe(1);
  expect(await downloadFile(get, copy, options({ progress }))).toBe(SHA256);
  expect(readFileSync(copy).equals(BYTES)).toBe(true);
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect(reported.at(-1)).toBe(1);
  expect(store.log).toEqual(["PUT /a/b.sqlite 200", "GET /a/b.sqlite 200"]);
});

test("a rejected upload says why, is not repeated, and sends nothing", async () => {
  const { file, get, store } = await scene();
  await expect(uploadFile(file, get, options())).rejects.toThrow(
    /^PUT http:\/\/127\.0\.0\.1:\d+\/a\/b\.sqlite: status 403, SignatureDoesNotMatch: The request signature does not match "yours"\.; a presigned URL is valid for one method/,
  );
  expect([store.log, store.received]).toEqual([["PUT /a/b.sqlite 403"], []]);
});

test("a missing object is not asked for again", async () => {
  const { copy, get, store } = await scene();
  await expect(downloadFile(get, copy, options())).rejects.toThrow(
    "status 404, NoSuchKey: The key does not exist.",
  );
  expect(store.log).toHaveLength(1);
  expect(existsSync(copy)).toBe(false);
});

test("a transfer that the store or the network fails is repeated from its beginning", async () => {
  const { store, file, copy, put, get } = await scene();
  store.faults.push(SLOW_DOWN, "cut", { status: 500, code: "InternalError" });
  const messages: string[] = [];
  await uploadFile(file, put, options({ onRetry: (message) => messages.push(message) }));
  expect(messages.map((message) => message.replace(/.*; /, ""))).toEqual([
    "trying again in 0.001 s",
    "trying again in 0.002 s",
    "trying again in 0.004 s",
  ]);
  expect(store.received).toEqual([BYTES.length]);
  store.faults.push("cut", SLOW_DOWN);
  expect(await downloadFile(get, copy, options())).toBe(SHA256);
  expect(statSync(copy).size).toBe(BYTES.length);
});

test("after the last attempt, the error of the store is shown", async () => {
  const { store, file, put } = await scene();
  store.faults.push(...Array.from({ length: MAX_ATTEMPTS + 1 }, () => SLOW_DOWN));
  await expect(uploadFile(file, put, options())).rejects.toThrow(
    `status 503, SlowDown: Please try again. (attempt ${MAX_ATTEMPTS} of ${MAX_ATTEMPTS})`,
  );
  expect(store.log).toHaveLength(MAX_ATTEMPTS);
});

test("a redirect is followed, but not for ever", async () => {
  const { store, file, put } = await scene();
  store.faults.push("redirect", "redirect");
  await uploadFile(file, put, options());
  expect(store.received).toEqual([BYTES.length]);
  store.faults.push("redirect", "redirect", "redirect", "redirect");
  await expect(uploadFile(file, put, options())).rejects.toThrow("status 307");
});

test("an aborted transfer says that nothing was changed", async () => {
  const { file, put, store } = await scene();
  const controller = new AbortController();
  const progress = async () => controller.abort();
  await expect(uploadFile(file, put, options({ progress, signal: controller.signal }))).rejects.toThrow(
    "interrupted; nothing was changed",
  );
  expect(store.objects.size).toBe(0);
});

test("a response without a length is rejected, because its end could not be recognized", async () => {
  const { copy } = await scene();
  const server = createServer((_, response) => response.write("part", () => response.end()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`);
  await expect(downloadFile(url, copy, options())).rejects.toThrow("no Content-Length");
});

test("a store without 100-continue gets the body after a second", async () => {
  const { file } = await scene();
  let size = 0;
  const server = createServer();
  server.on("checkContinue", (request, response) => {
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
    });
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  await uploadFile(file, new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`), options());
  expect(size).toBe(BYTES.length);
});
