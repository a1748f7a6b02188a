import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageScanner } from "../../../../src/postgres/relay/message-scanner.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

const message = fc.record({
  type: fc.constantFrom("Q", "P", "Z", "D", "C"),
  body: fc.uint8Array({ maxLength: 200 }),
});

test("messages are found wherever the stream is cut", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(500)), async (messages, cuts) => {
      const stream = Buffer.concat(messages.map(({ type, body }) => encode(type, body)));
      const found: unknown[] = [];
      const scanner = new MessageScanner((type, data, begin, end) =>
        found.push({ type: String.fromCharCode(type), prefix: Buffer.from(data.subarray(begin, end)) }),
      );
      const bounds = [0, ...cuts.filter((cut) => cut < stream.length).sort((a, b) => a - b), stream.length];
      for (let index = 1; index < bounds.length; index += 1)
        expect(scanner.scan(stream.subarray(bounds[index - 1], bounds[index]))).toBe(true);
      expect(found).toEqual(
        messages.map(({ type, body }) => ({
          type,
          prefix: Buffer.from(body.subarray(0, 64)),
        })),
      );
      expect(scanner.isBetweenMessages).toBe(true);
    }),
    200,
  );
});

test("a length below 4 is not a message", () => {
  const scanner = new MessageScanner(() => undefined);
  expect(scanner.scan(Buffer.from([0x51, 0, 0, 0, 3]))).toBe(false);
});

test("an unfinished message leaves the scanner within it", () => {
  const scanner = new MessageScanner(() => undefined);
  scanner.scan(encode("Q", Buffer.from("select 1")).subarray(0, 7));
  expect(scanner.isBetweenMessages).toBe(false);
});

function encode(type: string, body: Uint8Array): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
