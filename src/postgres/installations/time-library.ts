import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EngineError } from "../engine/engine.ts";

/** The version without a lock for threads: a process of Postgres has one thread, and signals interrupt it. */
const FILE = "libfaketime.so.1";

/**
 * Directories of libraries on Fedora, on Arch and Alpine, and after `make install`. Debian has one per architecture.
 */
const DIRECTORIES = ["/usr/lib64", "/usr/lib", "/usr/local/lib"];

/** The library that shows a process another time than the machine's. Throws `EngineError` if it is missing. */
export function findTimeLibrary(): string {
  if (process.platform !== "linux")
    throw new EngineError(
      "SQL has the clock of a world (--sql-clock world) on Linux only; elsewhere, now() is the machine's clock",
    );
  for (const directory of [...architectures(), ...DIRECTORIES]) {
    const library = join(directory, "faketime", FILE);
    if (existsSync(library)) return library;
  }
  throw new EngineError(
    `--sql-clock world needs the library ${FILE}, which is not installed; install the package libfaketime (on Debian and Ubuntu: apt-get install libfaketime)`,
  );
}

/**
 * Functions that wait. Those of the library show the machine's time to a signal that arrives in the meantime, and Postgres
 * compares its timeouts within the signal: in a world after the machine's date, no lock timeout and no deadlock would end.
 */
const WAITS: ReadonlySet<string> = new Set([
  "epoll_wait",
  "epoll_pwait",
  "poll",
  "ppoll",
  "select",
  "pselect",
  "sleep",
  "usleep",
  "nanosleep",
  "clock_nanosleep",
]);

/**
 * The name of a semaphore that each program would leave behind when it becomes another one, as shells do. With a second
 * slash, the system refuses it, and the library works without. Newer versions have a variable for this instead.
 */
const SEMAPHORE = Buffer.from("/faketime_sem_");
const REFUSED = Buffer.from("/faketime/sem_");

/** Numbers of the ELF format, of 64 bits and with the lowest byte first. */
const ELF64_LITTLE = "7f454c460201";
const DYNAMIC_SYMBOLS = 11;
const SYMBOL_BYTES = 24;

/**
 * Writes a copy of the library into a directory that replaces the clock only: processes wait with the functions of their
 * C library. Returns the copy.
 */
export function writeClockLibrary(library: string, directory: string): string {
  const file = readFileSync(library);
  if (file.toString("hex", 0, 6) !== ELF64_LITTLE)
    throw new EngineError(`--sql-clock world cannot use ${library}: it is no library of a 64-bit system`);
  const sectionsAt = Number(file.readBigUInt64LE(0x28));
  const [sectionBytes, sections] = [file.readUInt16LE(0x3a), file.readUInt16LE(0x3c)];
  const section = (index: number) => {
    const at = sectionsAt + index * sectionBytes;
    const offset = Number(file.readBigUInt64LE(at + 0x18));
    return {
      type: file.readUInt32LE(at + 0x04),
      offset,
      end: offset + Number(file.readBigUInt64LE(at + 0x20)),
      namesIn: file.readUInt32LE(at + 0x28),
    };
  };
  for (let index = 0; index < sections; index += 1) {
    const symbols = section(index);
    if (symbols.type !== DYNAMIC_SYMBOLS) continue;
    const names = section(symbols.namesIn).offset;
    for (let at = symbols.offset; at < symbols.end; at += SYMBOL_BYTES) {
      const nameAt = names + file.readUInt32LE(at);
      // Removes the name of the symbol, so that no program finds it.
      if (WAITS.has(file.toString("latin1", nameAt, file.indexOf(0, nameAt)))) file.writeUInt32LE(0, at);
    }
  }
  const semaphore = file.indexOf(SEMAPHORE);
  if (semaphore >= 0) REFUSED.copy(file, semaphore);
  const copy = join(directory, FILE);
  writeFileSync(copy, file);
  // The user of Postgres reads it, whatever the mask of this process is.
  chmodSync(copy, 0o644);
  return copy;
}

function architectures(): string[] {
  const root = "/usr/lib";
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /-linux-(?:gnu|musl)/.test(name))
    .sort()
    .map((name) => join(root, name));
}
