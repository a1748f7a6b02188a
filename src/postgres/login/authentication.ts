import type { Duplex } from "node:stream";
import { MAX } from "../../input-limits/limits.ts";
import { SCRAM, type Verifier } from "../../worlds/scram-verifier.ts";
import { authenticationFailed, ConnectionRejected, protocolViolation } from "../protocol/errors.ts";
import {
  authenticationCleartextPassword,
  authenticationSasl,
  authenticationSaslContinue,
  authenticationSaslFinal,
} from "../protocol/messages.ts";
import type { PacketReader } from "../protocol/packet-reader.ts";
import type { KnownPasswords } from "./known-passwords.ts";
import { SCRAM_PLUS, ScramExchange } from "./scram.ts";

const PASSWORD_MESSAGE = "p";

/**
 * Runs one SCRAM exchange. Its last message is sent with the next one, when the caller uncorks the socket. Throws `ConnectionRejected` if the
 * password is wrong.
 */
export async function authenticate(
  socket: Duplex,
  reader: PacketReader,
  role: string,
  verifier: Verifier,
  certificateHash: Buffer | undefined,
): Promise<void> {
  const mechanisms = certificateHash === undefined ? [SCRAM] : [SCRAM_PLUS, SCRAM];
  const exchange = new ScramExchange(verifier, certificateHash);
  try {
    socket.write(authenticationSasl(mechanisms));
    const { mechanism, data } = parseInitialResponse(await readPasswordMessage(reader));
    if (!mechanisms.includes(mechanism))
      throw new ConnectionRejected(
        protocolViolation("client selected an invalid SASL authentication mechanism"),
      );
    const challenge = exchange.challenge(mechanism, data);
    if (challenge === undefined) throw new ConnectionRejected(protocolViolation("malformed SCRAM message"));
    socket.write(authenticationSaslContinue(challenge));
    const final = exchange.verify((await readPasswordMessage(reader)).toString("utf8"));
    if (final === undefined) throw new ConnectionRejected(authenticationFailed(role));
    socket.cork();
    socket.write(authenticationSaslFinal(final));
  } finally {
    reader.release();
  }
}

/** Reads the password as text. Throws `ConnectionRejected` if it is wrong. */
export async function authenticateByPassword(
  socket: Duplex,
  reader: PacketReader,
  role: string,
  verifier: Verifier,
  passwords: KnownPasswords,
): Promise<void> {
  try {
    socket.write(authenticationCleartextPassword());
    const body = await readPasswordMessage(reader);
    const end = body.indexOf(0);
    const password = body.toString("utf8", 0, end === -1 ? undefined : end);
    if (!(await passwords.matches(password, verifier)))
      throw new ConnectionRejected(authenticationFailed(role));
  } finally {
    reader.release();
  }
}

/** The mechanism, and the client's first message. */
function parseInitialResponse(body: Buffer): { mechanism: string; data: string } {
  const end = body.indexOf(0);
  if (end === -1 || body.length < end + 5)
    throw new ConnectionRejected(protocolViolation("malformed SASL response"));
  return { mechanism: body.toString("latin1", 0, end), data: body.toString("utf8", end + 5) };
}

async function readPasswordMessage(reader: PacketReader): Promise<Buffer> {
  const { body } = await reader.read((data) => {
    if (data.length < 5) return undefined;
    const length = data.readInt32BE(1);
    if (data[0] !== PASSWORD_MESSAGE.charCodeAt(0) || length < 4 || length > MAX.passwordMessage)
      throw new ConnectionRejected(protocolViolation("expected SASL response"));
    return data.length < 1 + length ? undefined : { body: data.subarray(5, 1 + length), bytes: 1 + length };
  });
  return body;
}
