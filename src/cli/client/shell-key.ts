import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { CliError } from "../terminal/cli-error.ts";
import { ControlApiError, type ControlClient, type ServerTarget } from "./client.ts";
import { callRoute } from "./control-route.ts";

const FILE_NAME = "shell-keys.json";

/** The key of one world. After a restore, the world has another history, which may not contain the key. */
type StoredKey = { readonly id: number; readonly key: string; readonly history_id: string };
type StoredKeys = Readonly<Record<string, StoredKey>>;

/**
 * A valid API key for a shell: one for each world of a data directory, stored in a file that only its user can
 * read. A server that is selected by its URL has no data directory here, so each call creates a key.
 */
export async function shellKey(server: ControlClient, target: ServerTarget): Promise<string> {
  if (target.url !== undefined) return (await createKey(server)).key;
  const path = join(resolve(target.data), FILE_NAME);
  const keys = readKeys(path);
  const stored = keys[target.world];
  const { history } = await callRoute(server.control, "GET /health/ready");
  if (stored?.history_id === history.id && (await isValid(server, stored.id))) return stored.key;
  const { id, key } = await createKey(server);
  writeKeys(path, { ...keys, [target.world]: { id, key, history_id: history.id } });
  return key;
}

async function createKey(server: ControlClient): Promise<{ id: number; key: string }> {
  try {
    return await callRoute(server.control, "POST /api_keys", { body: { key_name: "standin env" } });
  } catch (error) {
    if (!(error instanceof ControlApiError) || error.status !== 403) throw error;
    throw new CliError(`${error.message}; to use a key that exists, set --api-key or STANDIN_API_KEY`);
  }
}

async function isValid(server: ControlClient, id: number): Promise<boolean> {
  const { api_keys } = await callRoute(server.control, "GET /api_keys");
  return api_keys.some((valid) => valid.id === id);
}

function readKeys(path: string): StoredKeys {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as StoredKeys;
  } catch {
    return {};
  }
}

function writeKeys(path: string, keys: StoredKeys): void {
  writeFileSync(`${path}.new`, JSON.stringify(keys), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
