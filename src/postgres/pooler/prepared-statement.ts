import { createHash } from "node:crypto";
import { parseMessage } from "../protocol/messages.ts";

/** A statement that clients prepare by the protocol, under names of their own. */
export type PreparedStatement = {
  /** The name in all server sessions: the same text with the same types has the same name. */
  readonly name: string;
  /** The Parse message with this name. */
  readonly parse: Buffer;
};

/** The statement of a client's Parse. `rest`: the text and the types, which follow the name. */
export function preparedStatement(rest: Buffer): PreparedStatement {
  const name = `pooled_${createHash("sha256").update(rest).digest("hex").slice(0, 32)}`;
  return { name, parse: parseMessage(name, rest) };
}
