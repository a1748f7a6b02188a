import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { expect, test } from "vitest";
import { mockVerifier, SCRAM_PLUS, ScramExchange } from "../../../../src/postgres/login/scram.ts";
import {
  formatVerifier,
  newVerifier,
  parseVerifier,
  SCRAM,
  type Verifier,
} from "../../../../src/worlds/scram-verifier.ts";

const CERTIFICATE_HASH = Buffer.alloc(32, 7);

test("a verifier has the form that Postgres stores, and survives parsing", async () => {
  // Of `ALTER ROLE … PASSWORD 'pencil'` in Postgres 18, with this salt.
  const verifier = newVerifier("pencil", Buffer.from("W22ZaJ0SNY7soEsUEjb6gQ==", "base64"));
  const text = formatVerifier(verifier);
  expect(text).toBe(
    "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=",
  );
  expect(parseVerifier(text)).toEqual(verifier);
});

test.each(["", "md5abc", "SCRAM-SHA-256$x:y$z:w", "SCRAM-SHA-1$4096:YQ==$YQ==:YQ=="])(
  "%j is not a verifier",
  (text) => {
    expect(parseVerifier(text)).toBeUndefined();
  },
);

test("the right password is accepted, and the server proves that it knows the verifier", async () => {
  const verifier = newVerifier("secret");
  const { final, expectedServerSignature } = runExchange(verifier, "secret", SCRAM, "n,,");
  expect(final).toBe(expectedServerSignature);
});

test("a login can be bound to the certificate", async () => {
  const verifier = newVerifier("secret");
  const bound = runExchange(verifier, "secret", SCRAM_PLUS, "p=tls-server-end-point,,", CERTIFICATE_HASH);
  expect(bound.final).toBe(bound.expectedServerSignature);
});

test("a login that is bound to another certificate is rejected", async () => {
  const verifier = newVerifier("secret");
  const other = Buffer.alloc(32, 8);
  const header = "p=tls-server-end-point,,";
  expect(runExchange(verifier, "secret", SCRAM_PLUS, header, CERTIFICATE_HASH, other).final).toBeUndefined();
});

test("a wrong password is rejected", async () => {
  const verifier = newVerifier("secret");
  expect(runExchange(verifier, "Secret", SCRAM, "n,,").final).toBeUndefined();
});

test.each([
  ["claims that the server supports no channel binding", SCRAM, "y,,n=,r=abc"],
  ["asks for a binding with the other mechanism", SCRAM, "p=tls-server-end-point,,n=,r=abc"],
  ["asks for no binding with the binding mechanism", SCRAM_PLUS, "n,,n=,r=abc"],
  ["has no nonce", SCRAM, "n,,n="],
  ["is empty", SCRAM, ""],
])("a first message over TLS that %s is rejected", async (_reason, mechanism, message) => {
  const exchange = new ScramExchange(newVerifier("secret"), CERTIFICATE_HASH);
  expect(exchange.challenge(mechanism, message)).toBeUndefined();
});

test("a proof for another nonce is rejected", async () => {
  const exchange = new ScramExchange(newVerifier("secret"), undefined);
  exchange.challenge(SCRAM, "n,,n=,r=abc");
  const proof = Buffer.alloc(32).toString("base64");
  expect(exchange.verify(`c=biws,r=abc,p=${proof}`)).toBeUndefined();
  expect(exchange.verify("nonsense")).toBeUndefined();
});

test("a role that does not exist has the same salt at every attempt, and no password", () => {
  const secret = Buffer.alloc(32, 1);
  expect(mockVerifier(secret, "ghost").salt).toEqual(mockVerifier(secret, "ghost").salt);
  expect(mockVerifier(secret, "ghost").salt).not.toEqual(mockVerifier(secret, "other").salt);
  expect(runExchange(mockVerifier(secret, "ghost"), "", SCRAM, "n,,").final).toBeUndefined();
});

/** The client's side, written from RFC 5802. */
function runExchange(
  verifier: Verifier,
  password: string,
  mechanism: string,
  header: string,
  certificateHash?: Buffer,
  clientHash = certificateHash,
) {
  const exchange = new ScramExchange(verifier, certificateHash);
  const bare = "n=,r=fyko+d2lbbFgONRv9qkxdawL";
  const serverFirst = exchange.challenge(mechanism, header + bare) ?? "";
  const { r, s, i } = Object.fromEntries(
    serverFirst.split(",").map((part) => [part[0], part.slice(2)]),
  ) as Record<"r" | "s" | "i", string>;
  const binding = header.startsWith("p=") ? (clientHash ?? Buffer.alloc(0)) : Buffer.alloc(0);
  const withoutProof = `c=${Buffer.concat([Buffer.from(header), binding]).toString("base64")},r=${r}`;
  const transcript = `${bare},${serverFirst},${withoutProof}`;
  const salted = pbkdf2Sync(password, Buffer.from(s, "base64"), Number(i), 32, "sha256");
  const clientKey = hmac(salted, "Client Key");
  const signature = hmac(createHash("sha256").update(clientKey).digest(), transcript);
  const proof = Buffer.from(clientKey.map((byte, index) => byte ^ (signature[index] ?? 0)));
  const serverSignature = hmac(hmac(salted, "Server Key"), transcript).toString("base64");
  return {
    final: exchange.verify(`${withoutProof},p=${proof.toString("base64")}`),
    expectedServerSignature: `v=${serverSignature}`,
  };
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
