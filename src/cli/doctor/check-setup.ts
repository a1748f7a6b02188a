import { DEFAULT_PROFILE, PROFILES } from "../../platform/catalog/defaults-and-limits.ts";
import { formatBytes } from "../../postgres/volumes/format-bytes.ts";
import { SQLITE_FIX } from "../../store/file/sqlite-module.ts";

/**
 * Result of a check. `problem`: a server with default options does not start. `warning`: a part of it does not work.
 */
type CheckLevel = "ok" | "warning" | "problem";

const DEFAULT_PG_VERSION = PROFILES[DEFAULT_PROFILE].defaultPgVersion;

export type SetupCheck = {
  readonly check:
    | "node"
    | "sqlite"
    | "data"
    | "worlds"
    | "disk"
    | "api port"
    | "postgres"
    | "postgres port"
    | "names";
  readonly level: CheckLevel;
  readonly found: string;
  /** Advice to the user. Absent if nothing has to be done. */
  readonly fix?: string;
};

export type PortUse = "free" | "this server" | "other";

/** Facts about the machine and the data directory. */
export type SetupFacts = {
  /** Version of Node, such as `22.11.0`. */
  readonly node: string;
  /** Oldest version of Node that the package accepts, such as `20.15`. */
  readonly oldestNode: string;
  /** The version of SQLite, or why its module cannot be loaded. */
  readonly sqlite: Found<string>;
  readonly data: {
    readonly path: string;
    readonly state:
      | "absent"
      | "unused"
      | "in use"
      | "served"
      | "no directory"
      | "not accessible"
      | "no new files";
    /** The process that serves it. */
    readonly pid?: number;
  };
  /** The versions of the tables of worlds, and the one that this release writes. Absent without SQLite. */
  readonly worlds?: { readonly stored: readonly StoredVersion[]; readonly currentVersion: number };
  /** On the disk of the data directory. Absent if the system does not state it. */
  readonly freeBytes?: number;
  readonly apiPort: PortFact;
  readonly postgresPort: PortFact;
  /** The versions of Postgres, or why none can be used. */
  readonly engines: Found<readonly number[]>;
  /** Whether every resolver finds a name below this domain. */
  readonly names: { readonly domain: string; readonly resolve: boolean; readonly inHostsFile: number };
};

type Found<T> = { readonly value: T } | { readonly error: string };
type StoredVersion = { readonly world: string } & ({ readonly version: number } | { readonly error: string });
type PortFact = { readonly port: number; readonly use: PortUse };

/** Major versions of Node for which the package is made. */
export const SUPPORTED_NODES = [20, 22, 24];
const MIB = 1024 ** 2;
const LITTLE_SPACE = 1_024 * MIB;
const TOO_LITTLE_SPACE = 100 * MIB;
const MAX_NAMED_WORLDS = 3;

/** One line for each part of a setup, in the order in which a server needs them. */
export function checkSetup(facts: SetupFacts): readonly SetupCheck[] {
  return [
    checkNode(facts),
    checkSqlite(facts),
    checkData(facts),
    ...checkWorlds(facts),
    ...checkDisk(facts),
    checkApiPort(facts),
    checkEngines(facts),
    checkPostgresPort(facts),
    checkNames(facts),
  ];
}

function checkNode({ node, oldestNode }: SetupFacts): SetupCheck {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = oldestNode.split(".").map(Number);
  const fix = `install Node ${SUPPORTED_NODES.at(-1)}`;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor))
    return { check: "node", level: "problem", found: `Node ${node}; ${oldestNode} or newer is needed`, fix };
  if (!SUPPORTED_NODES.includes(major))
    return {
      check: "node",
      level: "warning",
      found: `Node ${node}; ${SUPPORTED_NODES.join(", ")} are supported`,
      fix,
    };
  return { check: "node", level: "ok", found: `Node ${node}` };
}

function checkSqlite({ sqlite }: SetupFacts): SetupCheck {
  if ("value" in sqlite) return { check: "sqlite", level: "ok", found: `SQLite ${sqlite.value}` };
  return {
    check: "sqlite",
    level: "problem",
    found: `the module better-sqlite3 cannot be loaded: ${sqlite.error}`,
    fix: SQLITE_FIX,
  };
}

function checkData({ data: { path, state, pid } }: SetupFacts): SetupCheck {
  const check = "data" as const;
  switch (state) {
    case "absent":
      return { check, level: "ok", found: `${path} does not exist; the first start creates it` };
    case "unused":
      return { check, level: "ok", found: `${path}, which no server uses` };
    case "served":
      return { check, level: "ok", found: `${path}, served by process ${pid}` };
    case "in use":
      return {
        check,
        level: "problem",
        found: `${path} is in use by another standin, which does not respond as a server`,
        fix: "wait until the other command has ended, or use another --data directory",
      };
    case "no directory":
      return {
        check,
        level: "problem",
        found: `${path} is a file or is below one`,
        fix: "use another --data directory",
      };
    case "not accessible":
      return {
        check,
        level: "problem",
        found: `${path} cannot be read and written by this user`,
        fix: "change its owner, or use another --data directory",
      };
    case "no new files":
      return {
        check,
        level: "problem",
        found: `${path} is in a file system that accepts no new directories`,
        fix: "use another --data directory",
      };
  }
}

function checkWorlds({ worlds }: SetupFacts): readonly SetupCheck[] {
  const check = "worlds" as const;
  if (worlds === undefined || worlds.stored.length === 0) return [];
  const { stored, currentVersion } = worlds;
  const unreadable = stored.flatMap((one) => ("error" in one ? [one] : []));
  const [first] = unreadable;
  if (first !== undefined)
    return [
      {
        check,
        level: "problem",
        found: `${namesOf(unreadable)} cannot be opened: ${first.error}`,
        fix: "use the release of standin that wrote it, or restore a snapshot or a backup",
      },
    ];
  const older = stored.filter((one) => "version" in one && one.version < currentVersion);
  const upgraded =
    older.length === 0
      ? ""
      : `; the next start upgrades ${namesOf(older)}, and preserves the file as a snapshot`;
  return [{ check, level: "ok", found: `${stored.length} of version ${currentVersion} or older${upgraded}` }];
}

function namesOf(worlds: readonly StoredVersion[]): string {
  const named = worlds.slice(0, MAX_NAMED_WORLDS).map(({ world }) => world);
  return `${named.join(", ")}${worlds.length > named.length ? ` and ${worlds.length - named.length} others` : ""}`;
}

function checkDisk({ freeBytes }: SetupFacts): readonly SetupCheck[] {
  if (freeBytes === undefined) return [];
  const found = `${formatBytes(freeBytes)} free`;
  if (freeBytes >= LITTLE_SPACE) return [{ check: "disk", level: "ok", found }];
  const level = freeBytes < TOO_LITTLE_SPACE ? "problem" : "warning";
  return [
    {
      check: "disk",
      level,
      found: `${found}; a branch with data takes 40 MB and more`,
      fix: "free space on the disk of the data directory, or use another --data directory",
    },
  ];
}

function checkApiPort({ apiPort: { port, use } }: SetupFacts): SetupCheck {
  const check = "api port" as const;
  if (use !== "other") return { check, level: "ok", found: describePort(port, use) };
  return {
    check,
    level: "problem",
    found: `${port} is used by another program`,
    fix: "run standin serve with another --port, or 0 for a free port",
  };
}

function checkEngines({ engines }: SetupFacts): SetupCheck {
  const check = "postgres" as const;
  if ("value" in engines) {
    const found = `Postgres ${engines.value.join(", ")}`;
    if (engines.value.includes(DEFAULT_PG_VERSION)) return { check, level: "ok", found };
    return {
      check,
      level: "warning",
      found: `${found}. New projects of profile ${DEFAULT_PROFILE} have Postgres ${DEFAULT_PG_VERSION}, so their clients are rejected`,
      fix: `run standin engines install ${DEFAULT_PG_VERSION}, or start the server with --engine-version nearest`,
    };
  }
  return {
    check,
    level: "warning",
    found: `${engines.error}. The API works without it; Postgres clients are rejected`,
    fix: `run standin engines install ${DEFAULT_PG_VERSION}`,
  };
}

function checkPostgresPort({ postgresPort: { port, use } }: SetupFacts): SetupCheck {
  const check = "postgres port" as const;
  if (use !== "other") return { check, level: "ok", found: describePort(port, use) };
  return {
    check,
    level: "warning",
    found: `${port} is used by another program, so a server takes another port, which it prints and returns in URIs`,
    fix: `stop the other program if clients cannot use a port other than ${port}`,
  };
}

function describePort(port: number, use: PortUse): string {
  return use === "free" ? `${port} is free` : `${port} is used by the server of this directory`;
}

function checkNames({ names: { domain, resolve, inHostsFile } }: SetupFacts): SetupCheck {
  const check = "names" as const;
  if (resolve) return { check, level: "ok", found: `names below ${domain} resolve` };
  if (inHostsFile > 0)
    return {
      check,
      level: "ok",
      found: `the hosts file has ${inHostsFile} names; standin hosts check compares them`,
    };
  return {
    check,
    level: "warning",
    found: `names below ${domain} do not resolve for all programs, so URIs have 127.0.0.1 and options=endpoint%3D<id>`,
    fix: "run sudo standin hosts install if a client needs the names",
  };
}
