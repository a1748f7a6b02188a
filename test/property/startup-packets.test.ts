import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startupMessage } from "../../src/postgres/protocol/messages.ts";
import { answerOf, type FuzzedGateway, openFuzzedGateway } from "../support/postgres/fuzzed-gateway.ts";
import { expectHolds } from "../support/properties/properties.ts";

let fuzzed: FuzzedGateway;
beforeAll(async () => {
  fuzzed = await openFuzzedGateway();
});
afterAll(() => fuzzed.close());

const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const GSSENC_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 48]);
/** How a message of the server may begin: an answer to a request for encryption, or the type of a message. */
const FIRST_BYTES = ["S", "N", "E", "R", "v", "\u0015"];

const parameters = () =>
  fc.array(
    fc.tuple(
      fc.constantFrom("user", "database", "options", "application_name", "_pq_.x", "", "client_encoding"),
      fc.oneof(
        fc.string({ maxLength: 40 }),
        fc.constantFrom(
          "neondb_owner",
          "neondb",
          `endpoint=${fuzzed.endpointId}`,
          "endpoint=ep-x -c standin.world=x",
        ),
      ),
    ),
    { maxLength: 6 },
  );
const startup = () => parameters().map((pairs) => startupMessage(new Map(pairs)));
const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((array) => Buffer.from(array));
/** A login that gets as far as the exchange of the password, then anything. */
const login = () =>
  bytes(60).map((rest) =>
    Buffer.concat([
      startupMessage(
        new Map([
          ["user", "neondb_owner"],
          ["database", "neondb"],
          ["options", `endpoint=${fuzzed.endpointId}`],
        ]),
      ),
      Buffer.from("p"),
      rest,
    ]),
  );
/** A valid packet with one byte changed, or cut off. */
const damaged = () =>
  fc
    .tuple(fc.oneof(startup(), login()), fc.nat(), fc.nat(255), fc.boolean())
    .map(([packet, at, byte, isCut]) => {
      const index = at % packet.length;
      if (isCut) return packet.subarray(0, index);
      const changed = Buffer.from(packet);
      changed[index] = byte;
      return changed;
    });
const packets = () =>
  fc.array(
    fc.oneof(
      bytes(80),
      startup(),
      login(),
      damaged(),
      fc.constantFrom(SSL_REQUEST, GSSENC_REQUEST),
      bytes(40).map((rest) => Buffer.concat([SSL_REQUEST, rest])),
      bytes(200).map((rest) => Buffer.concat([Buffer.from([22, 3, 1]), rest])),
      fc.nat(30_000).map((length) => Buffer.alloc(length, 65)),
    ),
    { minLength: 1, maxLength: 4 },
  );

test("every sequence of packets before a session is answered with an error or closed, and counted", async () => {
  const firstBytes = new Set<string>();
  const property = fc.asyncProperty(packets(), async (sent) => {
    const before = fuzzed.gateway.figures();
    const errorsBefore = sum(before.errors);
    const socket = fuzzed.connect();
    const answer = answerOf(socket);
    for (const packet of sent) socket.write(packet);
    socket.end();
    const text = (await answer).toString("latin1");
    const after = fuzzed.gateway.figures();
    expect(after.connections).toBe(before.connections + 1);
    if (text !== "") expect(FIRST_BYTES).toContain(text[0]);
    firstBytes.add(text.slice(0, 1));
    // `E`, a length, and the first field of an error: its severity.
    const hasError = /E[\s\S]{4}S(ERROR|FATAL)\0/.test(text);
    if (hasError) expect(sum(after.errors)).toBe(errorsBefore + 1);
    expect(fuzzed.bugs).toEqual([]);
  });
  await expectHolds(property, 1_000);
  // Encryption accepted and refused, an error, the exchange of a password, and no answer at all.
  for (const first of ["S", "N", "E", "R", ""]) expect(firstBytes).toContain(first);
});

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, count) => total + count, 0);
}
