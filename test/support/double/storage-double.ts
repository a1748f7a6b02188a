import { memoryStorage } from "../../../src/app/open-worlds.ts";
import { MIGRATIONS_FOLDER } from "../../../src/app/package-root.ts";
import { openForReading } from "../../../src/store/file/open-read-only.ts";
import { type Verification, verifyFile } from "../../../src/store/file/verify-world.ts";
import { DataDirectory } from "../../../src/worlds/data-directory.ts";
import type { ApiResponse } from "../answers/api-response.ts";
import { temporaryDirectory } from "../process/process.ts";
import { SMALL_BLOCKS } from "../store/small-blocks.ts";
import { API_KEY, createDouble, type Double, type DoubleOptions } from "./double.ts";

/** Where worlds are stored. */
export const STORAGE_KINDS = ["in memory", "in files"] as const;
export type StorageKind = (typeof STORAGE_KINDS)[number];

/** A double with its storage, of either kind. */
export type StorageDouble = {
  readonly kind: StorageKind;
  /** The running double. */
  double(): Double;
  /** Another of its worlds, as if it were the only one. */
  world(name: string): Double;
  /** Restarts it: every world is reopened from its storage. */
  reopen(): Promise<void>;
  /**
   * Checks that the files of these worlds equal the fold of their journals. Worlds without a file are
   * skipped.
   */
  verify(...worlds: string[]): Promise<Verification[]>;
  /** The file of a world. Throws for a double in memory. */
  file(world?: string): string;
  /** The data directory. Throws for a double in memory. */
  readonly directory: string;
  /** Closes its worlds and releases their files for other processes. */
  release(): Promise<void>;
  /** Stops it and removes its storage. */
  end(): Promise<void>;
};

export async function createStorageDouble(
  kind: StorageKind,
  options: DoubleOptions = {},
): Promise<StorageDouble> {
  return open(kind, options, kind === "in files" ? temporaryDirectory() : undefined);
}

/** A double on an existing data directory, which is not removed. */
export async function openStorageDouble(path: string, options: DoubleOptions = {}): Promise<StorageDouble> {
  return open("in files", options, { path, remove: () => undefined });
}

async function open(
  kind: StorageKind,
  options: DoubleOptions,
  directory: ReturnType<typeof temporaryDirectory> | undefined,
) {
  const files = directory && new DataDirectory(directory.path, MIGRATIONS_FOLDER, SMALL_BLOCKS);
  const storage = files ?? memoryStorage();
  const start = () => createDouble({ ...options, storage });
  let double = await start().catch((error: unknown) => {
    files?.release();
    directory?.remove();
    throw error;
  });
  const file = (world = "default") => {
    if (directory === undefined) throw new Error("a world in memory has no file");
    return `${directory.path}/worlds/${world}.sqlite`;
  };
  const storageDouble: StorageDouble = {
    kind,
    double: () => double,
    world: (name) => doubleOfWorld(double, name),
    async reopen() {
      await double.close();
      double = await start();
    },
    verify: (...worlds) =>
      Promise.all(directory === undefined ? [] : worlds.map((world) => verify(file(world)))),
    file,
    directory: directory?.path ?? "",
    async release() {
      await double.close();
      files?.release();
    },
    async end() {
      await double.close();
      files?.release();
      directory?.remove();
    },
  };
  return storageDouble;
}

/** Checks that the file at `path` equals the fold of its journal. */
export async function verify(path: string): Promise<Verification> {
  const { sqlite, version, close } = openForReading(path, MIGRATIONS_FOLDER);
  try {
    return await verifyFile(sqlite, async () => undefined, version);
  } finally {
    close();
  }
}

/** Another world of a double, as if it were the only one. */
export function doubleOfWorld(double: Double, name: string): Double {
  const world = double.worlds.world(name);
  if (!world.ok) throw new Error(world.refusal.message);
  const call = async <Body>(
    path: string,
    method: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<ApiResponse<Body>> => {
    const init: RequestInit = {
      method,
      headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    };
    if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
    const response = await view.fetch(new Request(`http://localhost${path}`, init));
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
  const view: Double = {
    ...double,
    world: world.value,
    fetch: (request) => {
      const url = new URL(request.url);
      return double.fetch(new Request(`${url.origin}/w/${name}${url.pathname}${url.search}`, request));
    },
    api: (method, path, body, key = API_KEY) =>
      call(`/api/v2${path}`, method, body, { Authorization: `Bearer ${key}` }),
    sim: (method, path, body) => call(`/_sim${path}`, method, body, {}),
    advance: (by) => view.sim("POST", "/clock/advance", { by }),
  };
  return view;
}
