import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
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
import { basename, dirname, isAbsolute, join } from "node:path";
import { cachedDataVersionTag } from "node:v8";
import { Script } from "node:vm";
import { threadId } from "node:worker_threads";
import { crc32 } from "node:zlib";

/** Time after which the compiled code is stored. It is also stored when the process ends. */
const STORE_AFTER_MS = 2_000;
/** Most files of compiled code, of about 2 MB each. Versions and sets of options of V8 have their own. */
const MAX_FILES = 10;
const CRC_BYTES = 4;
const STORED_CODE = /^(command|simulator)-[0-9a-f]{8}\.cjs-/;
const WRITABLE_BY_OTHERS = 0o022;

/** What `build.mjs` makes of a bundle: a function with the parameters of a CommonJS module, and `import()`. */
export type BundleFunction = (
  exports: object,
  require: NodeJS.Require,
  module: { exports: object },
  filename: string,
  directory: string,
  importModule: (specifier: string) => Promise<unknown>,
) => void;

export type ScriptUse = {
  /** What runs of the script. Each part has a file of its own. */
  readonly part: string;
  /** Whether the compiled code is stored if there is none. */
  readonly stores: boolean;
};

/**
 * Evaluates a bundle. A third of a start is V8's compilation, so the code that it compiled for an earlier start is read
 * from a file, if there is one. The name of the bundle contains a digest of its content.
 */
export function evaluateScript(filename: string, { part, stores }: ScriptUse): object {
  // The bundle is ASCII. V8 uses a string of one byte per character as it is, without a copy.
  const source = readFileSync(filename, "latin1");
  const path = storedCodePath(filename, part);
  const cachedData = path === undefined ? undefined : readStoredCode(path);
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) });
  if (stores && path !== undefined && cachedData === undefined) storeLater(script, path);
  return callBundle(script.runInThisContext() as BundleFunction, filename);
}

/** Returns the exports of a bundle. */
export function callBundle(bundle: BundleFunction, filename: string): object {
  const module: { exports: object } = { exports: {} };
  bundle.call(
    module.exports,
    ...([module.exports, createRequire(filename), module, filename, dirname(filename)] as const),
    (specifier) => import(specifier),
  );
  return module.exports;
}

/** Path of the stored code. Reads the environment variables of the compile cache of newer versions of Node. */
function storedCodePath(filename: string, part: string): string | undefined {
  const { NODE_DISABLE_COMPILE_CACHE: disabled, NODE_COMPILE_CACHE: chosen } = process.env;
  if (disabled !== undefined && disabled !== "") return undefined;
  const directory = chosen === undefined || chosen === "" ? userCacheDirectory() : chosen;
  if (directory === undefined) return undefined;
  const { version, arch } = process;
  // V8 rejects code that was compiled with other flags of V8, or on a processor with other instructions.
  const tag = cachedDataVersionTag().toString(16);
  return join(directory, "standin", `${basename(filename)}-${version}-${arch}-${tag}-${part}`);
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
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    if (!isOwn(fstatSync(file))) return undefined;
    const bytes = readFileSync(file);
    const code = bytes.subarray(0, -CRC_BYTES);
    // V8 does not verify it, and a power cut may leave a file of zeros.
    return code.length > 0 && crc32(code) === bytes.readUInt32LE(code.length) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
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

/**
 * A program works without stored code, so failures are ignored. Each thread writes aside, so a reader finds complete code,
 * and of several writers the last one counts.
 */
function storeCode(code: Buffer, path: string): void {
  const aside = `${path}.${process.pid}-${threadId}`;
  try {
    const crc = Buffer.alloc(CRC_BYTES);
    crc.writeUInt32LE(crc32(code));
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // A link of this name, which somebody else may have made, is not followed.
    writeFileSync(aside, Buffer.concat([code, crc]), { mode: 0o600, flag: "wx" });
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
