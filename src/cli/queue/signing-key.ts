import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import { CliError } from "../terminal/cli-error.ts";
import { fileProblem } from "../terminal/file-problem.ts";
import { envOption } from "../terminal/options.ts";

/** As long as 16 random bytes in hexadecimal digits. */
const MIN_KEY_CHARACTERS = 32;
const MAX_KEY_CHARACTERS = 4_096;
const MAC = "sha256";
const KEY_ID_DIGITS = 8;
const KEY_VARIABLE = "STANDIN_QUEUE_KEY";

/** Length of a signature in bytes. */
export const SIGNATURE_BYTES = 32;

/** What is signed. A signature of one purpose is not valid for another. */
type Purpose = "job" | "sign-of-life" | "result";

/** The key that a command and its workers share. Redis does not have it. */
export class QueueKey {
  /** Part of the name of the queue: workers with another key have another queue. */
  readonly id: string;
  readonly #secret: string;

  constructor(secret: string) {
    this.#secret = secret;
    this.id = createHmac(MAC, secret).update("standin queue").digest("hex").slice(0, KEY_ID_DIGITS);
  }

  /** `subject` says what the content belongs to, so that it cannot be moved to something else. */
  sign(purpose: Purpose, subject: string, content: string | Buffer): Buffer {
    return createHmac(MAC, this.#secret)
      .update(JSON.stringify([purpose, subject]))
      .update("\n")
      .update(content)
      .digest();
  }

  isSigned(purpose: Purpose, subject: string, content: string | Buffer, signature: Buffer): boolean {
    return (
      signature.length === SIGNATURE_BYTES && timingSafeEqual(this.sign(purpose, subject, content), signature)
    );
  }
}

/** Everyone knows this key: its signatures only find damage. */
class PublicKey extends QueueKey {
  override readonly id = "insecure";
  constructor() {
    super("");
  }
}

/** The Redis server, and the key that its workers have. */
export type QueuePlace = { readonly url: string; readonly key: QueueKey };

export type QueueKeyOptions = { readonly queueKeyFile?: string; readonly insecure?: boolean };

export function addQueueKeyOptions(command: Command): Command {
  return command
    .addOption(
      envOption(
        "--queue-key-file <file>",
        `file with the key of the queue, which all machines share (default: the key in ${KEY_VARIABLE})`,
      ),
    )
    .addOption(
      new Option(
        "--insecure",
        "use the queue without a key: everyone who can write to the Redis server can then run jobs on the workers",
      ).conflicts("queueKeyFile"),
    );
}

/** The queue of a command, if it has one. Throws a `CliError` without a key, and for options that have no effect. */
export function queuePlaceFrom(
  options: QueueKeyOptions & { readonly queue?: string },
  command: Command,
): QueuePlace | undefined {
  const { queue } = options;
  if (queue !== undefined) return { url: queue, key: queueKeyFrom(options) };
  for (const name of ["queueKeyFile", "insecure"])
    if (command.getOptionValueSource(name) === "cli")
      throw new CliError(
        `${command.options.find((one) => one.attributeName() === name)?.long} requires --queue`,
        true,
      );
  return undefined;
}

/** Throws a `CliError` without a key, unless the options say that there is none. */
export function queueKeyFrom({ queueKeyFile, insecure }: QueueKeyOptions): QueueKey {
  const variable = process.env[KEY_VARIABLE] ?? "";
  if (insecure === true) {
    if (variable !== "")
      throw new CliError(`--insecure cannot be used with environment variable '${KEY_VARIABLE}'`, true);
    return new PublicKey();
  }
  if (queueKeyFile !== undefined) return new QueueKey(checkedSecret(readKeyFile(queueKeyFile), queueKeyFile));
  if (variable !== "") return new QueueKey(checkedSecret(variable, KEY_VARIABLE));
  throw new CliError(
    `--queue needs a key that the workers have, too: create one with openssl rand -hex 32, and give its file with --queue-key-file, or the key in ${KEY_VARIABLE}; --insecure uses the queue without a key`,
    true,
  );
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError(`--queue-key-file: ${path}: ${fileProblem(error)}`, true);
  }
}

/** Never prints the text: a file given by mistake can have other secrets. */
function checkedSecret(text: string, source: string): string {
  const secret = text.trim();
  if (secret.length >= MIN_KEY_CHARACTERS && secret.length <= MAX_KEY_CHARACTERS && !/\s/.test(secret))
    return secret;
  throw new CliError(
    `the key in ${source} must have ${MIN_KEY_CHARACTERS} to ${MAX_KEY_CHARACTERS.toLocaleString("en")} characters in one line; create one with openssl rand -hex 32`,
    true,
  );
}
