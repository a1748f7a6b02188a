import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX } from "../../../../src/input-limits/limits.ts";
import { parseStartup } from "../../../../src/postgres/login/startup.ts";
import { startupMessage } from "../../../../src/postgres/protocol/messages.ts";
import { expectHolds } from "../../../support/properties/properties.ts";

const PARAMETERS = new Map([
  ["user", "app"],
  ["database", "shop"],
  ["options", "endpoint=ep-x"],
]);

test("a startup packet gives its parameters", () => {
  const packet = startupMessage(PARAMETERS);
  expect(parseStartup(packet)).toEqual({
    kind: "startup",
    parameters: PARAMETERS,
    minor: 0,
    bytes: packet.length,
  });
});

test("every proper prefix of a packet is incomplete", () => {
  const packet = startupMessage(PARAMETERS);
  for (let length = 0; length < packet.length; length += 1)
    expect(parseStartup(packet.subarray(0, length))).toEqual({ kind: "incomplete" });
});

test("requests for TLS, for GSS encryption and for a cancellation are recognized", () => {
  expect(parseStartup(int32s(8, 80_877_103))).toEqual({ kind: "ssl-request", bytes: 8 });
  expect(parseStartup(int32s(8, 80_877_104))).toEqual({ kind: "gssenc-request", bytes: 8 });
  expect(parseStartup(int32s(16, 80_877_102, 42, 7))).toEqual({
    kind: "cancel",
    pid: 42,
    secret: "00000007",
    bytes: 16,
  });
  expect(parseStartup(Buffer.from([0x16, 3, 1]))).toEqual({ kind: "direct-tls" });
});

test.each([
  ["a packet of 7 bytes", int32s(7, 196_608), "invalid length of startup packet"],
  ["a packet that is too long", int32s(MAX.startupPacket + 1, 196_608), "invalid length of startup packet"],
  ["protocol 2.0", int32s(9, 131_072, 0), "unsupported frontend protocol 2.0: server supports 3.0"],
  ["an HTTP request", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "invalid length of startup packet"],
  [
    "parameters without an end",
    Buffer.concat([int32s(12, 196_608), Buffer.from("user")]),
    "invalid startup packet layout: expected terminator as last byte",
  ],
])("%s is rejected with a reason", (_name, packet, reason) => {
  expect(parseStartup(packet)).toEqual({ kind: "invalid", reason });
});

test("the longest packet is accepted", () => {
  const name = "a".repeat(MAX.startupPacket - startupMessage(new Map([["user", ""]])).length);
  const packet = startupMessage(new Map([["user", name]]));
  expect(packet.length).toBe(MAX.startupPacket);
  expect(parseStartup(packet)).toMatchObject({ kind: "startup" });
});

test("no bytes make the parser throw or read further than the packet", async () => {
  await expectHolds(
    fc.asyncProperty(fc.uint8Array({ maxLength: 64 }), async (bytes) => {
      const packet = parseStartup(Buffer.from(bytes));
      if ("bytes" in packet) expect(packet.bytes).toBeLessThanOrEqual(bytes.length);
    }),
    200,
  );
});

function int32s(...values: number[]): Buffer {
  const buffer = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) buffer.writeInt32BE(value, 4 * index);
  return buffer;
}
