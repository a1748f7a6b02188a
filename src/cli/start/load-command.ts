import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Script } from "node:vm";
import { isMainThread } from "node:worker_threads";
import { crc32 } from "node:zlib";

/** The file of the bundled command, next to this one. Its name contains a digest of its content. */
declare const COMMAND_FILE: string;

/** Time after which the compiled code of the command is stored. It is also stored when the command ends. */
const STORE_AFTER_MS = 2_000;
/** Most files of compiled code: those of two versions, of about 2 MB each. */
const MAX_FILES = 8;
const CRC_BYTES = 4;
/** The commands that run the most code. The others share a file. */
const LARGE_COMMANDS = ["serve", "run", "whatif"];
const STORED_CODE = /^command-[0-9a-f]{8}\.cjs-/;
const WRITABLE_BY_OTHERS = 0o022;

type CommandBundle = typeof import("./bundle.ts");

let loaded: CommandBundle | undefined;

/**
 * Evaluates the bundle of the command. A third of a start is V8's compilation, so the code that it compiled for an earlier
 * start of the same command is read from a file, if there is one. Threads read the file of their command.
 */
export function loadCommand(): CommandBundle {
  loaded ??= evaluate(fileURLToPath(new URL(COMMAND_FILE, import.meta.url)));
  return loaded;
}

function evaluate(filename: string): CommandBundle {
  // The bundle is ASCII. V8 uses a string of one byte per character as it is, without a copy.
  const source = readFileSync(filename, "latin1");
  const path = storedCodePath();
  const cachedData = path === undefined ? undefined : readStoredCode(path);
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  // Code that was compiled with other flags of V8 is not replaced, so that two commands do not replace each other's.
  if (isMainThread && path !== undefined && cachedData === undefined) storeLater(script, path);
  const module = { exports: {} };
  // `build.mjs` has made a function of it, with the parameters of a CommonJS module and `import()`.
  const run = script.runInThisContext() as (...values: readonly unknown[]) => void;
  run.call(
    module.exports,
    ...[module.exports, createRequire(filename), module, filename, dirname(filename)],
    (specifier: string) => import(specifier),
  );
  return module.exports as CommandBundle;
}

/** Path of the stored code. Reads the environment variables of the compile cache of newer versions of Node. */
function storedCodePath(): string | undefined {
  const { NODE_DISABLE_COMPILE_CACHE: disabled, NODE_COMPILE_CACHE: chosen } = process.env;
  if (disabled !== undefined && disabled !== "") return undefined;
  const directory = chosen === undefined || chosen === "" ? userCacheDirectory() : chosen;
  if (directory === undefined) return undefined;
  const { version, arch, argv } = process;
  const part = LARGE_COMMANDS.find((command) => command === argv[2]) ?? "other";
  return join(directory, "standin", `${COMMAND_FILE}-${version}-${arch}-${part}`);
}

function userCacheDirectory(): string | undefined {
  const { platform, env } = process;
  const { XDG_CACHE_HOME: xdg, LOCALAPPDATA: local } = env;
  // A relative path must be ignored: https://specifications.freedesktop.org/basedir-spec
  if (xdg !== undefined && isAbsolute(xdg)) return xdg;
  if (platform === "win32") return local;
  try {
    return join(homedir(), platform === "darwin" ? "Library/Caches" : ".cache");
  } catch {
    // A user without a name and without HOME, as in some containers.
    return undefined;
  }
}

function readStoredCode(path: string): Buffer | undefined {
  try {
    if (!isOwn(statSync(path))) return undefined;
    const bytes = readFileSync(path);
    const code = bytes.subarray(0, -CRC_BYTES);
    // V8 does not verify it, and a power cut may leave a file of zeros.
    return crc32(code) === bytes.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  }
}

/** Code that another user could have written is not run, for example with `sudo` and the HOME of a user. */
function isOwn({ uid, mode }: Stats): boolean {
  return process.platform === "win32" || (uid === process.getuid?.() && (mode & WRITABLE_BY_OTHERS) === 0);
}

function storeLater(script: Script, path: string): void {
  const store = () => {
    clearTimeout(timer);
    process.removeListener("exit", store);
    storeCode(script.createCachedData(), path);
  };
  const timer = setTimeout(store, STORE_AFTER_MS).unref();
  process.once("exit", store);
}

/** A command works without stored code, so failures are ignored. */
function storeCode(code: Buffer, path: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    const crc = Buffer.alloc(CRC_BYTES);
    crc.writeUInt32LE(crc32(code));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(aside, Buffer.concat([code, crc]), { mode: 0o600 });
    renameSync(aside, path);
    removeOldest(dirname(path));
  } catch {
    removeIfWritten(aside);
  }
}

function removeIfWritten(path: string): void {
  try {
    rmSync(path);
  } catch {
    // Its directory could not be created.
  }
}

/** The directory may have other files as well. */
function removeOldest(directory: string): void {
  const names = readdirSync(directory).filter((name) => STORED_CODE.test(name));
  const ages = names.map((name) => {
    const path = join(directory, name);
    return { path, writtenAt: statSync(path).mtimeMs };
  });
  const newestFirst = ages.sort((one, other) => other.writtenAt - one.writtenAt);
  for (const { path } of newestFirst.slice(MAX_FILES)) rmSync(path);
}
