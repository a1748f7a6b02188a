import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import {
  type HostsEntry,
  HostsFile,
  hostsBlock,
  SYSTEM_HOSTS_FILE,
  withHostsBlock,
  withoutHostsBlock,
} from "../../app/hosts-file.ts";
import { requireServer, type ServerTarget } from "../client/client.ts";
import { addTargetCommand } from "../client/target-command.ts";
import { readServerFile } from "../server/server-file.ts";
import { CliError } from "../terminal/cli-error.ts";
import { unreadableInput } from "../terminal/input-file.ts";
import { jsonOption } from "../terminal/options.ts";
import { print, printResult } from "../terminal/print.ts";

type FileOptions = { readonly file: string; readonly json?: boolean };
type HostsOptions = ServerTarget & FileOptions;
type NamedEndpoint = { readonly host: string; readonly pooler_host: string };

/** Describes the form of URIs that `--connection-uris auto` uses if a name does not resolve. */
const FORM_FOR_ALL_RESOLVERS =
  "Without an entry, connection_uri has 127.0.0.1 and options=endpoint%3D<id>, which needs no resolver; host resolves only where names below localhost do";

/** More names than a resolver reads quickly: it goes through the file for each name. */
const MAX_COMPUTES = 2_000;

/**
 * Writes host names of computes into a hosts file, for resolvers that do not resolve names below localhost by
 * themselves.
 */
export function hostsCommand(): Command {
  const hosts = new Command("hosts").addHelpText(
    "after",
    `
Examples:
  $ standin hosts check
  $ sudo standin hosts install
  $ standin hosts print >> extra-hosts
  $ sudo standin hosts remove`,
  );
  addInstall(hosts);
  addPrint(hosts);
  addCheck(hosts);
  addRemove(hosts);
  return hosts;
}

function addInstall(hosts: Command): void {
  addTargetCommand(hosts, {
    usage: "install",
    description: "write the host names of all computes of the world to the hosts file",
    options: [fileOption()],
    notes: `The names are in one block, which the next install replaces. Computes that are
created later need another install.`,
    examples: ["sudo standin hosts install", "standin hosts install --file ./hosts"],
  }).action(async (options: HostsOptions) => {
    const entries = await entriesOf(options);
    changeFile(options.file, (text) => withHostsBlock(text, entries));
    printResult(
      options,
      { file: options.file, computes: entries.length },
      `wrote the names of ${entries.length} computes to ${options.file}`,
    );
  });
}

function addPrint(hosts: Command): void {
  addTargetCommand(hosts, {
    usage: "print",
    description: "print the lines that install writes",
    examples: ["standin hosts print", "standin hosts print --json"],
  }).action(async (options: HostsOptions) => {
    const entries = await entriesOf(options);
    if (options.json === true) printResult(options, { hosts: entries }, "");
    else print(hostsBlock(entries));
  });
}

function addCheck(hosts: Command): void {
  addTargetCommand(hosts, {
    usage: "check",
    description: "check that the hosts file has the host names of all computes of the world",
    options: [fileOption()],
    notes: `${FORM_FOR_ALL_RESOLVERS}.

Exit status: 0 all names are there, 1 at least one is missing.`,
    examples: ["standin hosts check"],
  }).action(async (options: HostsOptions) => {
    const file = new HostsFile(options.file);
    const names = (await entriesOf(options)).flatMap((entry) => entry.names);
    const missing = names.filter((name) => !file.leadsHere(name));
    const missed = `${options.file}: ${missing.length} of ${names.length} names are missing, such as ${missing[0]}; run standin hosts install. ${FORM_FOR_ALL_RESOLVERS}`;
    printResult(
      options,
      { file: options.file, names: names.length, missing },
      missing.length === 0 ? `${options.file} has all ${names.length} names` : missed,
    );
    if (missing.length > 0) process.exitCode = 1;
  });
}

function addRemove(hosts: Command): void {
  hosts
    .command("remove")
    .description("remove the lines that install wrote; needs no server")
    .addOption(fileOption())
    .addOption(jsonOption())
    .addHelpText(
      "after",
      "\nExamples:\n  $ sudo standin hosts remove\n  $ standin hosts remove --file ./hosts",
    )
    .action((options: FileOptions) => {
      changeFile(options.file, withoutHostsBlock);
      printResult(options, { file: options.file }, `removed the names of computes from ${options.file}`);
    });
}

function fileOption() {
  return new Option("--file <path>", "hosts file to read or change").default(SYSTEM_HOSTS_FILE);
}

async function entriesOf(options: ServerTarget): Promise<readonly HostsEntry[]> {
  const server = await requireServer(options);
  const { endpoints } = await server.call<{ endpoints: readonly NamedEndpoint[] }>("GET", "/endpoints");
  if (endpoints.length > MAX_COMPUTES)
    throw new CliError(
      `the world has ${endpoints.length} computes, and a hosts file may get ${MAX_COMPUTES}; use --connection-uris address`,
    );
  const address = addressOf(options);
  return endpoints.map(({ host, pooler_host }) => ({ address, names: [host, pooler_host] }));
}

/** Address of the Postgres port, if the server runs on this machine; else the loopback address. */
function addressOf({ data, url }: ServerTarget): string {
  const found = url === undefined ? readServerFile(resolve(data))?.postgres_url : undefined;
  return found === undefined ? "127.0.0.1" : new URL(found).hostname.replace(/^\[|\]$/g, "");
}

/** Writes the file in place: in a container, it is a mount, which cannot be replaced. */
function changeFile(path: string, change: (text: string) => string): void {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw unreadableInput(path, error);
  }
  const changed = change(text);
  if (changed === text) return;
  try {
    writeFileSync(path, changed);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const isForbidden = code === "EACCES" || code === "EPERM" || code === "EROFS";
    throw new CliError(
      isForbidden
        ? `${path}: cannot be changed by this user; run the command with sudo, or add the lines of standin hosts print yourself`
        : `${path}: ${message}`,
    );
  }
}
