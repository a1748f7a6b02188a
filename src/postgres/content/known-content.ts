import { type AppliedContent, type LearnedChanges, passwordId } from "./content.ts";

type Roles = AppliedContent["roles"];
type Databases = AppliedContent["databases"];

/**
 * The content of the cluster that is changed to `wanted`, the content of the world: what was applied, and what was learned since. A
 * role that the API has created while SQL created one of this name is missing: it is created as the API has done.
 */
export function knownContent(
  applied: AppliedContent,
  wanted: AppliedContent,
  changes: LearnedChanges,
): AppliedContent {
  return {
    roles: knownRoles(applied.roles, wanted.roles, changes),
    databases: knownDatabases(withIdsOf(applied.databases, wanted.databases), wanted.databases, changes),
  };
}

function knownRoles(applied: Roles, wanted: Roles, changes: LearnedChanges): Roles {
  const created = new Map(changes.createdRoles.map(({ name, verifier }) => [name, passwordId(verifier)]));
  const changed = changes.changedPasswords.map(({ name, verifier }) => ({
    name,
    password: passwordId(verifier),
  }));
  const replaced = new Set([...changes.droppedRoles, ...changed.map(({ name }) => name)]);
  return [
    ...applied.filter(({ name }) => !replaced.has(name)),
    ...changed,
    ...wanted.filter(({ name, password }) => created.get(name) === password),
  ];
}

function knownDatabases(applied: Databases, wanted: Databases, changes: LearnedChanges): Databases {
  const owners = new Map(
    [...changes.createdDatabases, ...changes.changedOwners].map(({ name, owner }) => [name, owner]),
  );
  const created = new Set(changes.createdDatabases.map(({ name }) => name));
  const dropped = new Set(changes.droppedDatabases);
  const known = [
    ...applied.filter(({ name }) => !dropped.has(name)),
    ...wanted.filter(({ name }) => created.has(name)),
  ];
  return known.map((database) => ({ ...database, owner: owners.get(database.name) ?? database.owner }));
}

/** In clusters of earlier releases, databases have other ids than in the cluster that they were copied from. */
function withIdsOf(applied: Databases, wanted: Databases): Databases {
  const wantedIds = new Set(wanted.map(({ id }) => id));
  const idOfName = new Map(wanted.map(({ id, name }) => [name, id]));
  return applied.map((database) =>
    wantedIds.has(database.id) ? database : { ...database, id: idOfName.get(database.name) ?? database.id },
  );
}
