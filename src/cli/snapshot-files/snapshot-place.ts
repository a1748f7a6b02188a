import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { CliError } from "../terminal/cli-error.ts";
import { digestFile } from "./file-digest.ts";

/** Place from which a snapshot is pulled, or to which it is pushed. */
export type SnapshotPlace =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "object"; readonly url: URL };

/** Suffix of the name of a pushed snapshot. */
const SUFFIX = ".sqlite";

/** Parses a path, a `file://` URL, or an `http(s)://` URL. `what` names the argument in the error. */
export function parsePlace(text: string, what: string): SnapshotPlace {
  const [scheme] = /^[a-z][a-z0-9+.-]*(?=:\/\/)/i.exec(text) ?? [];
  if (scheme === undefined) return { kind: "file", path: resolve(text) };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "https:" || url?.protocol === "http:") return { kind: "object", url };
  const path = url?.protocol === "file:" ? localPath(url) : undefined;
  if (path !== undefined) return { kind: "file", path };
  throw new CliError(
    `${what}: expected a path, file:///path, or a presigned https:// URL, got ${scheme.toLowerCase()}://…`,
    true,
  );
}

/** A place as it may be shown: the query of a presigned URL is a credential. */
export function placeText(place: SnapshotPlace): string {
  return place.kind === "file" ? place.path : `${place.url.origin}${place.url.pathname}`;
}

/** The file to create for a snapshot that is pushed to a path. Throws if it, or its checksum, exists. */
export function newSnapshotFile(path: string, name: string): string {
  const file = isDirectory(path) ? join(path, `${name}${SUFFIX}`) : path;
  // A checksum without its file is also in the way: it would be replaced.
  for (const existing of [file, digestFile(file)])
    if (existsSync(existing)) throw new CliError(`--to: ${existing} already exists; choose another file`);
  if (!isDirectory(dirname(file))) throw new CliError(`--to: directory ${dirname(file)} does not exist`);
  return file;
}

/** Unlike `existsSync`, `statSync` throws below a file. */
function isDirectory(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** The name that a snapshot had when it was pushed, if its file was not renamed. */
export function nameFromPlace(place: SnapshotPlace): string {
  const path = place.kind === "file" ? place.path : place.url.pathname;
  return basename(path, SUFFIX);
}

function localPath(url: URL): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
