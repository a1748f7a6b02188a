import type { SimTime } from "../../kernel/time.ts";
import type { EventBase } from "./event-base.ts";
import type { BranchRef } from "./object-refs.ts";

/** The part of a branch's data that a control plane knows. */
export type BranchContent = {
  readonly roles: readonly Role[];
  readonly databases: readonly Database[];
};

/**
 * A Postgres role of a branch. Its password is stored as a secret of the world; events name only the secret's
 * id.
 */
export type Role = {
  readonly name: string;
  readonly secretId: string;
  /** S: a role that cannot log in and has no password. */
  readonly noLogin?: true;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type CreateRole = BranchRef & {
  readonly type: "CreateRole";
  readonly name: string;
  readonly noLogin?: boolean | undefined;
};
export type DeleteRole = BranchRef & { readonly type: "DeleteRole"; readonly name: string };
export type ResetRolePassword = BranchRef & { readonly type: "ResetRolePassword"; readonly name: string };

export type Database = {
  readonly id: number;
  /** The id of the database that it is a copy of, and that is not a copy itself; absent: it is none. */
  readonly copiedFrom?: number;
  readonly name: string;
  readonly ownerName: string;
  readonly createdAt: SimTime;
  readonly updatedAt: SimTime;
};

export type CreateDatabase = BranchRef & {
  readonly type: "CreateDatabase";
  readonly name: string;
  readonly ownerName: string;
};
export type UpdateDatabase = BranchRef & {
  readonly type: "UpdateDatabase";
  readonly name: string;
  readonly newName?: string | undefined;
  readonly ownerName?: string | undefined;
};
export type DeleteDatabase = BranchRef & { readonly type: "DeleteDatabase"; readonly name: string };

export type DatabaseChanges = Partial<Pick<Database, "name" | "ownerName">>;

export type RoleCommand = CreateRole | DeleteRole | ResetRolePassword;
export type DatabaseCommand = CreateDatabase | UpdateDatabase | DeleteDatabase;

export type RoleEvent =
  | (EventBase & { readonly type: "RoleCreated"; readonly branchId: string; readonly role: Role })
  | (EventBase & { readonly type: "RoleDeleted"; readonly branchId: string; readonly roleName: string })
  | (EventBase & {
      readonly type: "RolePasswordReset";
      readonly branchId: string;
      readonly roleName: string;
      readonly secretId: string;
      /** Whether SQL has changed the role to one that cannot log in, or that can; absent: it has not. */
      readonly noLogin?: boolean;
    });

export type DatabaseEvent =
  | (EventBase & { readonly type: "DatabaseCreated"; readonly branchId: string; readonly database: Database })
  | (EventBase & {
      readonly type: "DatabaseUpdated";
      readonly branchId: string;
      readonly databaseId: number;
      readonly changes: DatabaseChanges;
    })
  | (EventBase & {
      readonly type: "DatabaseDeleted";
      readonly branchId: string;
      readonly databaseId: number;
    });
