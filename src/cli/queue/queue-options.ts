import { readFileSync } from "node:fs";
import { type Command, Option } from "commander";
import type { QueuePlace } from "../../ports/queue.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";
import { envOption } from "../terminal/options.ts";

/** Length of 16 random bytes in hexadecimal digits. */
const MIN_KEY_CHARACTERS = 32;
const MAX_KEY_CHARACTERS = 4_096;
const KEY_VARIABLE = "STANDIN_QUEUE_KEY";

export type QueueKeyOptions = { readonly queueKeyFile?: string; readonly insecure?: boolean };

/** `--queue`, which can have a password, so it can be an environment variable. */
export function queueOption(description: string): Option {
  return envOption("--queue <url>", description).argParser(parseQueueUrl);
}

/** Throws a `CliError`, because the error of commander would print the password. */
function parseQueueUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^rediss?:$/.test(url.protocol) && url.hostname !== "") return text;
  throw new CliError("--queue: expected the URL of a Redis server, such as redis://localhost:6379", true);
}

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
        "use the queue without a key; anyone who can write to the Redis server can then run jobs on the workers",
      ).conflicts("queueKeyFile"),
    );
}

/** The queue of a command, if it has one. Throws a `CliError` without a key, and for options that have no effect. */
export function queuePlaceFrom(
  options: QueueKeyOptions & { readonly queue?: string },
  command: Command,
): QueuePlace | undefined {
  const { queue } = options;
  if (queue !== undefined) return { url: queue, secret: queueSecretFrom(options) };
  for (const name of ["queueKeyFile", "insecure"])
    if (command.getOptionValueSource(name) === "cli")
      throw new CliError(
        `${command.options.find((one) => one.attributeName() === name)?.long} requires --queue`,
        true,
      );
  return undefined;
}

/** The key; `undefined` with `--insecure`. Throws a `CliError` if neither is given. */
export function queueSecretFrom({ queueKeyFile, insecure }: QueueKeyOptions): string | undefined {
  const variable = process.env[KEY_VARIABLE] ?? "";
  if (insecure === true) {
    if (variable !== "")
      throw new CliError(`--insecure cannot be used with environment variable '${KEY_VARIABLE}'`, true);
    return undefined;
  }
  if (queueKeyFile !== undefined)
    return checkedSecret(readKeyFile(queueKeyFile), `--queue-key-file ${queueKeyFile}`);
  if (variable !== "") return checkedSecret(variable, KEY_VARIABLE);
  throw new CliError(
    `--queue needs a key that the workers have, too: create one with openssl rand -hex 32, and give its file with --queue-key-file, or the key in ${KEY_VARIABLE}; --insecure uses the queue without a key`,
    true,
  );
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw unreadableInput(`--queue-key-file: ${path}`, error);
  }
}

/** Never prints the text: a file given by mistake can have other secrets. */
function checkedSecret(text: string, source: string): string {
  const secret = text.trim();
  if (secret.length >= MIN_KEY_CHARACTERS && secret.length <= MAX_KEY_CHARACTERS && !/\s/.test(secret))
    return secret;
  throw new CliError(
    `${source}: the key must have ${MIN_KEY_CHARACTERS} to ${MAX_KEY_CHARACTERS.toLocaleString("en")} characters in one line; create one with openssl rand -hex 32`,
    true,
  );
}
