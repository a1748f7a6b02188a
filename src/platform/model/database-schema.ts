import type { DataReference } from "./branch-data.ts";

/** An object of a database, and the statements that create it. */
type SchemaObject = {
  /** Type in the terms of pg_dump, such as `TABLE` or `FK CONSTRAINT`. */
  readonly type: string;
  readonly schema: string;
  readonly name: string;
  readonly owner: string;
  readonly sql: string;
};

/** A table in the form of the public document. */
type SchemaTable = {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly {
    readonly name: string;
    readonly type: string;
    readonly nullable: boolean;
    readonly generated: boolean;
  }[];
  readonly constraints: readonly {
    readonly type: string;
    readonly columns: readonly string[];
    readonly name: string;
    readonly referenced_table?: {
      readonly schema: string;
      readonly table: string;
      readonly columns: readonly string[];
    };
  }[];
};

export type DatabaseSchema = {
  /** In an order in which they can be created. */
  readonly objects: readonly SchemaObject[];
  readonly tables: readonly SchemaTable[];
};

/** Which schema to read. */
export type SchemaRequest = {
  readonly branchId: string;
  /** The branch as it is now: an engine that runs has it. */
  readonly isHead: boolean;
  readonly reference: DataReference;
  readonly database: { readonly id: number; readonly name: string };
};

/** `undefined` if the cluster does not have the database. Starts no compute. Rejects with a `SchemaUnavailable`. */
export type ReadSchema = (world: string, request: SchemaRequest) => Promise<DatabaseSchema | undefined>;

/** Postgres cannot read the schema now. The message is for callers. */
export class SchemaUnavailable extends Error {
  override readonly name = "SchemaUnavailable";
}
