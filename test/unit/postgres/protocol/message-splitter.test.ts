import fc from "fast-check";
import { expect, test } from "vitest";
import { MessageSplitter } from "../../../../src/postgres/protocol/message-splitter.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

const message = fc
  .tuple(fc.integer({ min: 65, max: 122 }), fc.uint8Array({ maxLength: 40 }))
  .map(([type, body]) => {
    const head = Buffer.alloc(5);
    head[0] = type;
    head.writeInt32BE(4 + body.length, 1);
    return Buffer.concat([head, body]);
  });

test("messages come out whole and in order, however the stream is divided", async () => {
  await expectHolds(
    fc.property(fc.array(message), fc.array(fc.nat(50)), (messages, cuts) => {
      const splitter = new MessageSplitter();
      let stream = Buffer.concat(messages);
      const found: Buffer[] = [];
      for (const cut of cuts) {
        found.push(...(splitter.split(stream.subarray(0, cut)) ?? []));
        stream = stream.subarray(cut);
      }
      found.push(...(splitter.split(stream) ?? []));
      expect(found).toEqual(messages);
      expect(splitter.announcedBytes).toBe(0);
    }),
    300,
  );
});

test("a length below 4 is no message", () => {
  expect(new MessageSplitter().split(Buffer.from([81, 0, 0, 0, 3]))).toBeUndefined();
});

test("the length of a message that is not complete is known", () => {
  const splitter = new MessageSplitter();
  expect(splitter.split(Buffer.from([81, 0, 0, 0, 9, 1]))).toEqual([]);
  expect(splitter.announcedBytes).toBe(10);
});
