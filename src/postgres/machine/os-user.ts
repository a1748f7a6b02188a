import { readFileSync } from "node:fs";

/** The operating system's user that Postgres runs as. */
export type OsUser = { readonly name: string; readonly uid: number; readonly gid: number };

/** Postgres refuses to run as root. These users exist for services; the first one found is used. */
const SERVICE_USERS = ["postgres", "nobody"];

/** A directory that does not exist. */
const NO_HOME = "/nonexistent";

/** The user to switch to if this process is root; `undefined` if none is necessary. */
export function engineUser(): OsUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = new Map<string, OsUser>();
  for (const line of readFileSync("/etc/passwd", "utf8").split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name !== undefined) users.set(name, { name, uid: Number(uid), gid: Number(gid) });
  }
  for (const name of SERVICE_USERS) {
    const user = users.get(name);
    if (user !== undefined) return user;
  }
  return undefined;
}

export function spawnAs(user: OsUser | undefined): { uid?: number; gid?: number } {
  return user === undefined ? {} : { uid: user.uid, gid: user.gid };
}

/**
 * For programs of Postgres, whose output must not depend on the environment of the server. Without a home, connections of
 * foreign servers do not use passwords and certificates of the user.
 */
export function spawnOptions(user: OsUser | undefined) {
  return { ...spawnAs(user), env: { PATH: process.env["PATH"], HOME: NO_HOME, LC_ALL: "C", TZ: "UTC" } };
}
