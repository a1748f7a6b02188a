import { chmodSync, cpSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkSchema } from "../../store/file/check-schema.ts";
import { vacuumCopy } from "../../store/file/open-read-only.ts";
import { redactSecrets } from "../../store/file/redact-secrets.ts";
import { DataDirectory } from "../../worlds/data-directory.ts";
import { DEFAULT_WORLD, volumesFolder } from "../../worlds/directory-layout.ts";
import { hashSecret } from "../../worlds/secrets.ts";
import { MIGRATIONS_FOLDER } from "../package-root.ts";
import { placeholderKey } from "./scenario-world.ts";

/** A new directory in `parent` for the files of one run, and a function that removes it. */
export function temporaryDirectory(parent = tmpdir()): {
  readonly path: string;
  readonly remove: () => void;
} {
  const path = mkdtempSync(join(parent, "standin-run-"));
  // If this process is root, Postgres runs as another user, which must be able to enter. The files below stay private.
  if (process.getuid?.() === 0) chmodSync(path, 0o711);
  return { path: join(path, "data"), remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Begins with a copy of a world's file, whose keys are others there: `recorded-key-` and their number. */
export function importRecordedWorld(
  data: string,
  file: string,
  { keepsRequests = false }: { readonly keepsRequests?: boolean } = {},
): void {
  // The file may come with a scenario of somebody else.
  checkSchema(file, MIGRATIONS_FOLDER);
  const directory = new DataDirectory(data, MIGRATIONS_FOLDER);
  try {
    directory.importWorld(DEFAULT_WORLD, (copy) => {
      vacuumCopy(file, copy);
      redactSecrets(copy, { migrationsFolder: MIGRATIONS_FOLDER, keepsRequests }, (keyId) =>
        hashSecret(placeholderKey(keyId)),
      );
    });
  } finally {
    directory.release();
  }
}

/**
 * Leaves the files of the worlds as they are now, as a crash does. `close` ends what uses them. The data of
 * branches is not copied, but stays: after a crash, Postgres has every row that was acknowledged.
 */
export async function crash(data: string, close: () => Promise<void>): Promise<void> {
  const crashCopy = `${data}.left`;
  const volumes = volumesFolder(data);
  cpSync(data, crashCopy, {
    recursive: true,
    filter: (path) => path !== volumes && !path.endsWith("standin.lock"),
  });
  await close();
  if (existsSync(volumes)) renameSync(volumes, volumesFolder(crashCopy));
  rmSync(data, { recursive: true });
  renameSync(crashCopy, data);
}
