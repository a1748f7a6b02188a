import { expect, test } from "vitest";
import { parseProxyHeader } from "../../../../src/postgres/login/proxy-protocol.ts";
import { ConnectionRejected } from "../../../../src/postgres/protocol/errors.ts";

const SIGNATURE = "0d0a0d0a000d0a515549540a";
const bytes = (hex: string) => Buffer.from(hex, "hex");

test.each([
  ["version 1, IPv4", Buffer.from("PROXY TCP4 10.1.2.3 10.0.0.1 5000 5432\r\n"), "10.1.2.3"],
  ["version 1, IPv6", Buffer.from("PROXY TCP6 2001:db8::1 ::1 5000 5432\r\n"), "2001:db8::1"],
  ["version 1, without an address", Buffer.from("PROXY UNKNOWN\r\n"), undefined],
  ["version 2, IPv4", bytes(`${SIGNATURE}2111000c0a0102030a00000113881538`), "10.1.2.3"],
  [
    "version 2, IPv6",
    bytes(`${SIGNATURE}21210024${"20010db8000000000000000000000001".repeat(2)}13881538`),
    "2001:db8:0:0:0:0:0:1",
  ],
  [
    "version 2, mapped IPv4",
    bytes(`${SIGNATURE}21210024${"00000000000000000000ffff0a010203".repeat(2)}13881538`),
    "10.1.2.3",
  ],
  ["version 2, further fields", bytes(`${SIGNATURE}2111000f0a0102030a00000113881538040000`), "10.1.2.3"],
  ["version 2, of the proxy itself", bytes(`${SIGNATURE}20000000`), undefined],
])("%s", (_, header, address) => {
  const following = Buffer.from("startup");
  expect(parseProxyHeader(Buffer.concat([header, following]))).toEqual({ address, bytes: header.length });
  for (let length = 0; length < header.length; length += 1)
    expect(parseProxyHeader(header.subarray(0, length))).toBeUndefined();
});

test.each([
  ["a startup packet", bytes("0000000804d2162f")],
  ["version 1 without a line end", Buffer.from(`PROXY TCP4 ${"1".repeat(110)}`)],
  ["version 1 with another family than its address", Buffer.from("PROXY TCP6 10.1.2.3 10.0.0.1 1 2\r\n")],
  ["version 1 without an address", Buffer.from("PROXY TCP4\r\n")],
  ["version 2 with an unknown command", bytes(`${SIGNATURE}22110000`)],
  ["version 2 with a short address", bytes(`${SIGNATURE}2111000400000000`)],
  ["version 2 with too many fields", bytes(`${SIGNATURE}2111ffff`)],
])("%s is no header", (_, data) => expect(() => parseProxyHeader(data)).toThrow(ConnectionRejected));
