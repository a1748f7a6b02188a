import { chmodSync, lstatSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { SUBSCRIPTIONS_OWNER } from "../../postgres/content/own-subscriptions.ts";
import type { VolumeBase } from "../../postgres/volumes/volume.ts";
import { VOLUME_ID } from "../../postgres/volumes/volume-origins.ts";
import { TEMPLATES, type Volumes } from "../../postgres/volumes/volumes.ts";
import { CliError } from "../terminal/cli-error.ts";

/** A file that each cluster has, and no other directory. */
const CLUSTER_MARK = "PG_VERSION";
const CLUSTER_SETTINGS = "postgresql.conf";

/** Roles log in without a password: only this user reaches the socket. As `initdb --auth=trust` writes it. */
const LOGINS = "local all all trust\nlocal replication all trust\n";
/** Replaces the sender's settings of an imported cluster. standin passes its own when it starts Postgres. */
const SETTINGS: Readonly<Record<string, string>> = {
  "postgresql.conf": "# The cluster was imported. standin gives its settings when it starts Postgres.\n",
  "postgresql.auto.conf": "",
  "pg_hba.conf": LOGINS,
  "pg_ident.conf": "",
};
/** Files by which a cluster says that a process uses it, or that it is to be recovered in another way. */
const STATE_FILES = [
  "postmaster.pid",
  "postmaster.opts",
  "recovery.signal",
  "standby.signal",
  "recovery.conf",
  // Autovacuum would use them, and work in the template databases.
  "pg_stat/pgstat.stat",
  // An import keeps the ids of volumes, and the subscriptions belong to the original.
  SUBSCRIPTIONS_OWNER,
];

/** Throws a `CliError` unless the volume and its bases are below the root, and have files and directories only. */
export function checkForeignVolume(volumes: Volumes, id: string): void {
  const { root } = volumes;
  checkKind(root);
  const { bases } = volumes.volume(id);
  for (const base of bases) checkBase(root, id, base);
  for (const path of [join(root, id), ...bases.map(({ path: basePath }) => basePath)]) {
    // No part of the way may be a link.
    for (let above = dirname(path); above !== root; above = dirname(above)) checkKind(above);
    checkTree(path);
  }
}

/** Checks that the base is the base of a volume, or an empty cluster. */
function checkBase(root: string, id: string, { path }: VolumeBase): void {
  const name = relative(root, path);
  const isOfVolume = basename(name) === "data" && VOLUME_ID.test(dirname(name));
  const isEmptyCluster = dirname(name) === TEMPLATES && VOLUME_ID.test(name);
  if (!isOfVolume && !isEmptyCluster)
    throw new CliError(
      `the data of ${id} begins with that in ${path}, which is not a volume of the same export`,
    );
}

function checkTree(path: string): void {
  checkKind(path);
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) checkTree(join(path, entry.name));
    else checkKind(join(path, entry.name));
}

function checkKind(path: string): void {
  const stats = lstatSync(path);
  if (stats.isFile() || stats.isDirectory()) return;
  throw new CliError(
    `${path} is ${stats.isSymbolicLink() ? "a link" : "not a file"}; data to import has files and directories only`,
  );
}

/** Replaces the settings of all clusters in a directory that was copied from elsewhere, before it is used. */
export function replaceSettings(directory: string): void {
  const names = readdirSync(directory, { withFileTypes: true });
  if (
    names.some(({ name }) => name === CLUSTER_MARK) &&
    names.some(({ name }) => name === CLUSTER_SETTINGS)
  ) {
    for (const [name, text] of Object.entries(SETTINGS)) replaceFile(join(directory, name), text);
    for (const name of STATE_FILES) rmSync(join(directory, name), { recursive: true, force: true });
    return;
  }
  for (const entry of names) if (entry.isDirectory()) replaceSettings(join(directory, entry.name));
}

function replaceFile(path: string, text: string): void {
  rmSync(path, { recursive: true, force: true });
  writeFileSync(path, text, { flag: "wx" });
  chmodSync(path, 0o600);
}
