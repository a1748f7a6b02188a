import { readFileSync, statSync } from "node:fs";

/** The file that every resolver reads before it asks a name server. */
export const SYSTEM_HOSTS_FILE =
  process.platform === "win32" ? "C:\\Windows\\System32\\drivers\\etc\\hosts" : "/etc/hosts";

const BEGIN = "# standin hosts: begin";
const END = "# standin hosts: end";

/** A line of a hosts file: the names of one address. */
export type HostsEntry = { readonly address: string; readonly names: readonly string[] };

/** The lines that `standin hosts` owns, each ended, between two marks. */
export function hostsBlock(entries: readonly HostsEntry[]): string {
  const lines = entries.map(({ address, names }) => `${address} ${names.join(" ")}`);
  return `${[BEGIN, ...lines, END].join("\n")}\n`;
}

/**
 * A hosts file without the block. If one of its marks is missing, our lines cannot be identified, so all lines stay.
 */
export function withoutHostsBlock(text: string): string {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  const end = lines.findIndex((line, index) => index > begin && line.trim() === END);
  if (begin === -1 || end === -1) return text;
  return [...lines.slice(0, begin), ...lines.slice(end + 1)].join("\n");
}

/** A hosts file with this block instead of its own. */
export function withHostsBlock(text: string, entries: readonly HostsEntry[]): string {
  const rest = withoutHostsBlock(text);
  return `${rest}${rest === "" || rest.endsWith("\n") ? "" : "\n"}${hostsBlock(entries)}`;
}

/** The address of each name, in lower case. The first line with a name decides, as for resolvers. */
export function hostsIn(text: string): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [address, ...names] = (line.split("#")[0] ?? "").trim().split(/\s+/);
    if (address === undefined || address === "") continue;
    for (const name of names.map((text) => text.toLowerCase()))
      if (!addresses.has(name)) addresses.set(name, address);
  }
  return addresses;
}

/** The names of a hosts file, read again when it has changed. */
export class HostsFile {
  readonly #path: string;
  /** The time and size of the file when it was read. */
  #version: string | undefined;
  #addresses: ReadonlyMap<string, string> = new Map();

  constructor(path: string = SYSTEM_HOSTS_FILE) {
    this.#path = path;
  }

  /** Whether the file leads this name to an address of this machine. */
  leadsHere(name: string): boolean {
    const address = this.#current().get(name.toLowerCase());
    return address !== undefined && (address.startsWith("127.") || address === "::1");
  }

  #current(): ReadonlyMap<string, string> {
    try {
      const { mtimeMs, size } = statSync(this.#path);
      const version = `${mtimeMs} ${size}`;
      if (version !== this.#version) {
        this.#addresses = hostsIn(readFileSync(this.#path, "utf8"));
        this.#version = version;
      }
    } catch {
      // A machine without the file has no names in it.
      this.#addresses = new Map();
      this.#version = undefined;
    }
    return this.#addresses;
  }
}
