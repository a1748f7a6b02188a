import fc from "fast-check";
import { test } from "vitest";
import { learnContent } from "../../src/postgres/compute/branch-content.ts";
import {
  asApplied,
  type ClusterContent,
  type Content,
  hasChanges,
  learnedChanges,
} from "../../src/postgres/content/content.ts";
import { formatVerifier, newVerifier } from "../../src/worlds/scram-verifier.ts";
import { createDouble, createProject } from "../support/double/double.ts";
import { expectHolds } from "../support/properties/properties.ts";

/** A cluster as SQL changes it: the login and password of each role, and the owner of each database. */
type Cluster = {
  readonly roles: Map<string, { readonly canLogin: boolean; readonly password: string | undefined }>;
  readonly databases: Map<string, string>;
};

const name = fc.constantFrom("ada", "bob", "cleo", "neondb_owner");
const passwords = ["first", "second"].map((password) => formatVerifier(newVerifier(password)));
const password = fc.constantFrom(undefined, "md5c4ca4238a0b923820dcc509a6f75849b", ...passwords);
const statement = fc.oneof(
  fc.record({ type: fc.constant("create or alter role"), name, canLogin: fc.boolean(), password }),
  fc.record({ type: fc.constant("drop role"), name }),
  fc.record({ type: fc.constant("rename role"), name, to: name }),
  fc.record({ type: fc.constant("create or alter database"), name: fc.constantFrom("a", "b"), owner: name }),
  fc.record({ type: fc.constant("drop database"), name: fc.constantFrom("a", "b", "neondb") }),
);
type Statement = typeof statement extends fc.Arbitrary<infer Each> ? Each : never;

function execute({ roles, databases }: Cluster, statement: Statement): void {
  if ("canLogin" in statement) roles.set(statement.name, statement);
  else if ("owner" in statement) databases.set(statement.name, statement.owner);
  else if ("to" in statement) {
    const role = roles.get(statement.name);
    if (role === undefined || roles.has(statement.to)) return;
    roles.delete(statement.name);
    roles.set(statement.to, role);
  } else if (statement.type === "drop role") roles.delete(statement.name);
  else databases.delete(statement.name);
}

function contentOf({ roles, databases }: Cluster): Omit<ClusterContent, "expiringRoles"> {
  return {
    roles: [...roles].map(([role, { canLogin, password: verifier = "" }]) => ({
      name: role,
      verifier: canLogin ? verifier : undefined,
    })),
    databases: [...databases].map(([database, owner]) => ({ name: database, owner })),
  };
}

test("after SQL statements were learned once, the world and the cluster have the same roles and databases", async () => {
  await expectHolds(
    fc.asyncProperty(fc.array(fc.array(statement, { maxLength: 6 }), { maxLength: 6 }), async (rounds) => {
      const double = await createDouble({ operations: "immediate" });
      try {
        const { endpointId } = await createProject(double);
        const cluster: Cluster = { roles: new Map(), databases: new Map() };
        const learn = async (applied: Content) => {
          const changes = learnedChanges(asApplied(applied), contentOf(cluster));
          const content = await double.world.transact((transaction) =>
            learnContent(transaction, endpointId, changes),
          );
          if (content instanceof Error) throw content;
          return content;
        };
        let applied = await learn({ roles: [], databases: [] });
        for (const { name: role, verifier } of applied.roles)
          cluster.roles.set(role, { canLogin: verifier !== undefined, password: verifier });
        for (const { name: database, owner } of applied.databases) cluster.databases.set(database, owner);
        for (const statements of rounds) {
          for (const each of statements) execute(cluster, each);
          applied = await learn(applied);
          const left = learnedChanges(asApplied(applied), contentOf(cluster));
          if (hasChanges(left)) throw new Error(`not learned: ${JSON.stringify(left)}`);
        }
      } finally {
        await double.close();
      }
    }),
    100,
  );
});
