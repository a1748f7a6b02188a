import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

/** The directories with data, without those that all histories share. */
export function directoriesIn(data: string): string[] {
  const volumes = join(data, "volumes");
  return readdirSync(volumes, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !["templates", "extension"].includes(entry.name))
    .flatMap(({ name }) => readdirSync(join(volumes, name)).map((child) => `${name}/${child}`))
    .filter((path) => !path.endsWith("/owner"));
}

/** Volume directories that the world refers to, with their bases. */
export function neededDirectories(data: string): Set<string> {
  const sqlite = new Database(join(data, "worlds", "default.sqlite"), { readonly: true });
  const rows = sqlite.prepare("select * from branch_data").all() as Record<string, string | null>[];
  sqlite.close();
  const ids = rows.flatMap(({ volume_id, past }) => [
    ...(volume_id === null || volume_id === undefined ? [] : [volume_id]),
    ...(JSON.parse(past ?? "[]") as { volumeId?: string }[]).flatMap(({ volumeId }) => volumeId ?? []),
  ]);
  const bases = ids.flatMap((id) => {
    const file = join(data, "volumes", id, "origin.json");
    if (!existsSync(file)) return [];
    const origin = JSON.parse(readFileSync(file, "utf8")) as { bases: { path: string }[] };
    return origin.bases.map(({ path }) => path.replace(/\/data$/, ""));
  });
  return new Set([...ids, ...bases]);
}

/** The processes that work in a directory or below it. Of Linux. */
export function processesIn(directory: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readlinkSync(`/proc/${pid}/cwd`).startsWith(directory);
      } catch {
        return false;
      }
    })
    .map(Number);
}
