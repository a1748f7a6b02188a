import type * as public_ from "@neondatabase/api-client";
import type * as z from "zod";
import { unwrap } from "../../http/request.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type {
  ConfigurationKind,
  NewServiceRecord,
  SecretChange,
  ServiceKind,
  ServiceSettings,
} from "../../platform/model/service-record.ts";
import {
  isServiceRecord,
  type ServiceRecord,
  type SettingsRecordOf,
} from "../../platform/model/settings-record.ts";
import {
  checkEnabled,
  findEnabledService,
  findServiceRecord,
  servicesOf,
} from "../../platform/rules/branch/services/decide-service-record.ts";
import { SERVICE_DEFAULTS } from "../../platform/rules/branch/services/service-defaults.ts";
import { findDatabase } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { branchParams, branchTarget, requestedBranch } from "../http/branch-request.ts";
import { type ApiMethod, type ApiRoute, type RequestContext, route } from "../http/route.ts";

/** A record as an answer shows it. */
export type Shown<K extends ServiceKind> = {
  readonly world: World;
  readonly branch: Branch;
  /** Absent while a configuration has all its defaults. */
  readonly record: SettingsRecordOf<K> | (K extends ConfigurationKind ? undefined : never);
  /** With defaults. */
  readonly settings: EffectiveSettings<K>;
  readonly secret: string | undefined;
  /** The records of another kind on the same branch. */
  readonly list: <Other extends ServiceKind>(kind: Other) => readonly Shown<Other>[];
  /** A configuration of the same branch. */
  readonly configuration: <Other extends ConfigurationKind>(kind: Other) => Shown<Other>;
};

type EffectiveSettings<K extends ServiceKind> = K extends "authEmailProvider"
  ? public_.NeonAuthEmailServerConfig
  : K extends ConfigurationKind
    ? ServiceSettings[K] & (typeof SERVICE_DEFAULTS)[K]
    : ServiceSettings[K];

type Input<B> = {
  readonly branch: Branch;
  readonly params: Readonly<Record<string, string>>;
  readonly body: B;
};

/** What an operation does with its record, and the body of its response; without `answer` there is none. */
type Effect<K extends ServiceKind, B> =
  | { readonly does: "list"; readonly answer: (shown: readonly Shown<K>[]) => object }
  | { readonly does: "read"; readonly answer: (shown: Shown<K>) => object }
  | { readonly does: "delete"; readonly answer?: () => object }
  | {
      /** `update` merges the settings with the present ones, `replace` replaces these. */
      readonly does: "create" | "update" | "replace";
      readonly settings: (body: B, present: ServiceSettings[K] | undefined) => Partial<ServiceSettings[K]>;
      /** The secret in the body, which is stored beside history. */
      readonly secret?: (body: B) => string | undefined;
      /** The record gets the instant of the call. */
      readonly marks?: true;
      readonly answer?: (shown: Shown<K>) => object;
    };

type OperationSpec<K extends ServiceKind, B extends z.ZodType> = {
  readonly route: `${ApiMethod} /${string}`;
  readonly status?: 201 | 204;
  readonly kind: K;
  /** The parameters of the route. */
  readonly params?: Readonly<Record<string, z.ZodType<string>>>;
  readonly body?: B;
  /** The keys of the records, if callers choose them. */
  readonly keys?: (input: Input<z.output<B>>) => readonly string[];
  /** The database that the record serves. It must exist. */
  readonly database?: (input: Input<z.output<B>>) => string;
} & Effect<K, z.output<B>>;

export type RecordedOperation = OperationSpec<ServiceKind, z.ZodType>;

/**
 * An operation on service records of one kind. What the caller sends is validated, stored, returned and
 * deleted; nothing acts on it.
 */
export function recorded<K extends ServiceKind, B extends z.ZodType = z.ZodUndefined>(
  spec: OperationSpec<K, B>,
): RecordedOperation {
  return spec as unknown as RecordedOperation;
}

const BRANCH = "/projects/:project_id/branches/:branch_id";
type RecordedRequest = RequestContext<z.output<typeof branchParams>, unknown, unknown>;

/** The routes of a table of operations. */
export function recordedOperationRoutes(operations: readonly RecordedOperation[]): readonly ApiRoute[] {
  return operations.map((operation) => {
    const [method, path] = operation.route.split(" ") as [ApiMethod, `/${string}`];
    const { status = 200, body } = operation;
    const params = branchParams.extend(operation.params ?? {}) as unknown as typeof branchParams;
    return route(
      `${method} ${BRANCH}${path}`,
      { status, params, ...(body === undefined ? {} : { body }) },
      (request) => perform(operation, request),
    );
  });
}

function perform(operation: RecordedOperation, request: RecordedRequest): object | undefined {
  const { kind } = operation;
  const { transaction } = request;
  const { world } = transaction;
  const branch = requestedBranch(request);
  const input = { branch, params: request.params, body: request.body };
  const database = operation.database?.(input);
  if (database !== undefined) unwrap(findDatabase(branch, database));
  const keys = operation.keys?.(input) ?? [""];
  const [key = ""] = keys;
  switch (operation.does) {
    case "list":
      unwrap(checkEnabled(world, branch, kind));
      return operation.answer(shown(transaction, branch, kind, undefined).list(kind));
    case "read": {
      const record = unwrap(findEnabledService(world, branch, kind, key));
      return operation.answer(shown(transaction, branch, kind, record));
    }
    case "delete":
      request.execute({ type: "DeleteServiceRecords", ...branchTarget(request), kind, keys });
      return operation.answer?.();
    default: {
      const record = write(operation, request, key, database);
      return operation.answer?.(shown(transaction, branch, kind, record));
    }
  }
}

type Writing = Extract<RecordedOperation, { readonly settings: unknown }>;

/** Creates or updates the record, and stores its secret. */
function write(
  { kind, does, keys, settings, secret: secretOf, marks }: Writing,
  request: RecordedRequest,
  key: string,
  database: string | undefined,
): ServiceRecord | undefined {
  const { body, params, transaction } = request;
  const branchId = params.branch_id;
  const present = findServiceRecord(transaction.world, branchId, kind, key);
  const secret = secretOf?.(body);
  const change = secretChange(secret, storedSecret(transaction, present), does);
  const record = {
    kind,
    settings: settings(body, present?.fields.settings),
    secret: change,
    isMarked: marks,
  };
  const events = request.execute(
    does === "create"
      ? {
          type: "CreateServiceRecord",
          ...branchTarget(request),
          record: { ...record, key: keys && key, database } as NewServiceRecord,
        }
      : {
          type: "UpdateServiceRecord",
          ...branchTarget(request),
          ...record,
          key,
          replaces: does === "replace",
        },
  );
  const created = events.flatMap((event) => (event.type === "RecordCreated" ? [event.record] : []))[0];
  const written = created ?? findServiceRecord(transaction.world, branchId, kind, key);
  if (written === undefined || !isServiceRecord(written)) return undefined;
  const { secretId } = written.fields;
  if (secret !== undefined && change === "new" && secretId !== undefined)
    transaction.storeSecret(secretId, secret);
  return written;
}

/** An update without a secret keeps the present one. */
function secretChange(given: string | undefined, stored: string | undefined, does: string): SecretChange {
  if (given === undefined) return does === "update" ? "same" : undefined;
  return given === stored ? "same" : "new";
}

function storedSecret(transaction: Transaction, record: ServiceRecord | undefined): string | undefined {
  const secretId = record?.fields.secretId;
  return secretId === undefined ? undefined : transaction.readSecret(secretId);
}

function shown(
  transaction: Transaction,
  branch: Branch,
  kind: ServiceKind,
  record: ServiceRecord | undefined,
): Shown<ServiceKind> {
  const { world } = transaction;
  const defaults = (SERVICE_DEFAULTS as Partial<Record<ServiceKind, object>>)[kind];
  const list = (other: ServiceKind) =>
    servicesOf(world, branch.id)
      .filter((row) => row.kind === other)
      .map((row) => shown(transaction, branch, other, row));
  return {
    world,
    branch,
    record: record as ServiceRecord,
    settings: { ...defaults, ...record?.fields.settings } as EffectiveSettings<ServiceKind>,
    secret: storedSecret(transaction, record),
    list: list as Shown<ServiceKind>["list"],
    configuration: ((other) =>
      list(other)[0] ?? shown(transaction, branch, other, undefined)) as Shown<ServiceKind>["configuration"],
  };
}
