/** The roles and databases that clients have created in a cluster. */
export type Content = {
  readonly roles: readonly ContentRole[];
  readonly databases: readonly ContentDatabase[];
};
/** `verifier`: `undefined` for a role that cannot log in. */
export type ContentRole = { readonly name: string; readonly verifier: string | undefined };
/** `id` stays the same when the database is renamed or copied. */
export type ContentDatabase = { readonly id: number; readonly name: string; readonly owner: string };

/** Current roles and databases of a cluster. */
export type ClusterContent = {
  readonly roles: readonly ContentRole[];
  /** The names of roles whose passwords expire, or have expired (`VALID UNTIL`). */
  readonly expiringRoles: ReadonlySet<string>;
  readonly databases: readonly Omit<ContentDatabase, "id">[];
};

/** The content that was last applied to a cluster. */
export type AppliedContent = {
  readonly roles: readonly AppliedRole[];
  readonly databases: readonly ContentDatabase[];
};
/** `password` identifies the role's password; `null` for a role that cannot log in. */
export type AppliedRole = { readonly name: string; readonly password: string | null };

/** Changes by SQL statements in the cluster since content was last applied to it. */
export type LearnedChanges = {
  readonly createdRoles: readonly ContentRole[];
  readonly changedPasswords: readonly ContentRole[];
  readonly droppedRoles: readonly string[];
  readonly createdDatabases: readonly { readonly name: string; readonly owner: string }[];
  readonly changedOwners: readonly { readonly name: string; readonly owner: string }[];
  readonly droppedDatabases: readonly string[];
};

/** The salt differs for each password. It is not secret: the login sends it to every client. */
const SALT = /^SCRAM-SHA-256\$\d+:([^$]+)\$/;
const OTHER_PASSWORD = "other";

/**
 * Identifies a password in the cluster. The verifier itself is not stored there, because other roles must not read it.
 */
export function passwordId(verifier: string | undefined): string | null {
  if (verifier === undefined) return null;
  return verifier === "" ? "" : (SALT.exec(verifier)?.[1] ?? OTHER_PASSWORD);
}

export function asApplied({ roles, databases }: Content): AppliedContent {
  return {
    roles: roles.map(({ name, verifier }) => ({ name, password: passwordId(verifier) })),
    databases: databases.map(({ id, name, owner }) => ({ id, name, owner })),
  };
}

/** Differences between the cluster and the content that was last applied to it. */
export function learnedChanges(
  applied: AppliedContent,
  cluster: Omit<ClusterContent, "expiringRoles">,
): LearnedChanges {
  const roleBefore = new Map(applied.roles.map((role) => [role.name, role]));
  const databaseBefore = new Map(applied.databases.map((database) => [database.name, database]));
  const roleNames = new Set(cluster.roles.map(({ name }) => name));
  const databaseNames = new Set(cluster.databases.map(({ name }) => name));
  return {
    createdRoles: cluster.roles.filter(({ name }) => !roleBefore.has(name)),
    changedPasswords: cluster.roles.filter(({ name, verifier }) => {
      const before = roleBefore.get(name);
      return before !== undefined && before.password !== passwordId(verifier);
    }),
    droppedRoles: applied.roles.map(({ name }) => name).filter((name) => !roleNames.has(name)),
    createdDatabases: cluster.databases.filter(({ name }) => !databaseBefore.has(name)),
    changedOwners: cluster.databases.filter(({ name, owner }) => {
      const before = databaseBefore.get(name);
      return before !== undefined && before.owner !== owner;
    }),
    droppedDatabases: applied.databases.map(({ name }) => name).filter((name) => !databaseNames.has(name)),
  };
}

export function hasChanges(changes: LearnedChanges): boolean {
  return Object.values(changes).some((list) => list.length > 0);
}

/** The names of the roles and databases that have changed. */
export function changedNames(changes: LearnedChanges): string[] {
  return Object.values(changes)
    .flat()
    .map((changed) => (typeof changed === "string" ? changed : changed.name));
}
