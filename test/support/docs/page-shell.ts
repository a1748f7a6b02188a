import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../process/ports.ts";

const ROOT = join(import.meta.dirname, "../../..");
const LONGEST_COMMAND_MS = 120_000;
/** Folders that pages name. */
const ABSOLUTE_FOLDERS = ["/tmp/", "/var/lib/", "/mnt/"];
const DEFAULT_PORTS = ["4620", "4621"];

export type Printed = { readonly status: number; readonly output: string };

/**
 * One terminal in which the commands of a page run in their order, in a directory of its own. Absolute folders
 * and the default ports of a server are replaced in commands, and back in their output.
 */
export class PageShell {
  readonly #directory: string;
  readonly #shell: ChildProcess;
  readonly #replacements: readonly (readonly [shown: string, actual: string])[];
  #output = "";
  #commands = 0;

  private constructor(directory: string, ports: readonly number[]) {
    this.#directory = directory;
    this.#replacements = [
      ...DEFAULT_PORTS.map((shown, index) => [shown, String(ports[index])] as const),
      ...ABSOLUTE_FOLDERS.map((folder) => [folder, `${directory}${folder}`] as const),
    ];
    const work = join(directory, "work");
    for (const folder of [
      work,
      join(directory, "bin"),
      ...ABSOLUTE_FOLDERS.map((name) => join(directory, name)),
    ])
      mkdirSync(folder, { recursive: true });
    // Postgres may run as another user, who must reach its data.
    chmodSync(directory, 0o755);
    linkPackages(join(work, "node_modules"));
    // `npx` asks a registry for a command that is not installed in the current directory.
    const npx = join(directory, "bin/npx");
    writeFileSync(npx, '#!/bin/sh\nexec "$@"\n');
    chmodSync(npx, 0o755);
    this.#shell = spawn("bash", ["--norc"], {
      cwd: work,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
      env: {
        PATH: [
          join(directory, "bin"),
          join(ROOT, "bin"),
          join(ROOT, "node_modules/.bin"),
          process.env["PATH"],
        ].join(":"),
        HOME: directory,
        TMPDIR: process.env["TMPDIR"],
        CI: "1",
        STANDIN_PORT: String(ports[0]),
        STANDIN_PG_PORT: String(ports[1]),
        NO_PROXY: "127.0.0.1,localhost",
        no_proxy: "127.0.0.1,localhost",
      },
    });
    for (const stream of [this.#shell.stdout, this.#shell.stderr])
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.#output += chunk;
      });
  }

  static async open(directory: string): Promise<PageShell> {
    const shell = new PageShell(directory, [await freePort(), await freePort()]);
    await shell.run("exec 2>&1");
    return shell;
  }

  writeFile(name: string, text: string): void {
    const place = name.startsWith("/") ? this.#actual(name) : join(this.#directory, "work", name);
    writeFileSync(place, this.#actual(text));
  }

  async run(command: string): Promise<Printed> {
    // A command that reads its input must not read the next command.
    const mark = this.#begin(`{ ${command}\n} < /dev/null\n`);
    const deadline = Date.now() + LONGEST_COMMAND_MS;
    const end = new RegExp(`([\\s\\S]*?)${mark} (\\d+)\n`);
    for (;;) {
      const [, output, status] = end.exec(this.#output) ?? [];
      if (output !== undefined) return { status: Number(status), output: this.#shown(output) };
      if (Date.now() > deadline) throw new Error(`${command} does not end; it has printed ${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Starts a command that runs until the page ends, and waits for the server. */
  async serve(command: string): Promise<void> {
    const lines = command.split("\n");
    const last = lines.pop() ?? "";
    await this.run([...lines, `{ ${last.replace(/#.*$/, "")}; } > server.log 2>&1 &`].join("\n"));
    const [, data] = /--data[ =](\S+)/.exec(last) ?? [];
    const { output } = await this.run(
      `standin wait${data === undefined ? "" : ` --data ${data}`} || cat server.log`,
    );
    if (output !== "ready\n") throw new Error(`${command}: ${output}`);
  }

  async close(): Promise<void> {
    const ended = once(this.#shell, "close");
    const pid = this.#shell.pid ?? 0;
    for (const signal of ["SIGINT", "SIGKILL"] as const) {
      try {
        process.kill(-pid, signal);
      } catch {
        // All of its processes have ended.
      }
      if (signal === "SIGINT")
        await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5_000))]);
    }
    await ended;
  }

  #begin(command: string): string {
    this.#commands += 1;
    this.#output = "";
    const mark = `end-of-command-${this.#commands}`;
    this.#shell.stdin?.write(`${this.#actual(command)}printf '%s %s\\n' ${mark} $?\n`);
    return mark;
  }

  #actual(text: string): string {
    return replaceAtOnce(text, this.#replacements);
  }

  #shown(text: string): string {
    return replaceAtOnce(
      text,
      this.#replacements.map(([shown, actual]) => [actual, shown]),
    );
  }
}

/** In one pass: a random directory or port may contain the next text to replace. A port is no part of a longer number. */
function replaceAtOnce(text: string, pairs: readonly (readonly [text: string, by: string])[]): string {
  const by = new Map(pairs);
  const patterns = [...by.keys()].map((key) => (/^\d+$/.test(key) ? `(?<!\\d)${key}(?!\\d)` : key));
  return text.replaceAll(new RegExp(patterns.join("|"), "g"), (found) => by.get(found) ?? found);
}

/** The packages of this clone, and the clone itself as an installed package. */
function linkPackages(folder: string): void {
  const installed = join(ROOT, "node_modules");
  const owner = "@standin";
  mkdirSync(join(folder, owner), { recursive: true });
  for (const name of readdirSync(installed))
    if (name !== owner) symlinkSync(join(installed, name), join(folder, name));
  symlinkSync(ROOT, join(folder, owner, "standin"));
}
