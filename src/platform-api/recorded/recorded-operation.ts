import type * as public_ from "@neondatabase/api-client";
import type * as z from "zod";
import { unwrap } from "../../http/request.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import type { SimTime } from "../../kernel/time.ts";
import type { Branch } from "../../platform/model/branch.ts";
import type {
  ConfigurationKind,
  NewServiceRecord,
  SecretChange,
  ServiceKind,
} from "../../platform/model/service-record.ts";
import type { ServiceSettings } from "../../platform/model/service-settings.ts";
import {
  isServiceRecord,
  type ServiceRecord,
  type SettingsRecordOf,
} from "../../platform/model/settings-record.ts";
import {
  checkEnabled,
  findEnabledService,
  findServiceRecord,
  refuseMissing,
  servicesOf,
} from "../../platform/rules/branch/services/decide-service-record.ts";
import { SERVICE_DEFAULTS } from "../../platform/rules/branch/services/service-defaults.ts";
import { findDatabase } from "../../platform/world/lookup.ts";
import type { World } from "../../platform/world/world.ts";
import type { Transaction } from "../../worlds/world-handle.ts";
import { type ApiMethod, type ApiRoute, route } from "../http/route.ts";

import { ON_BRANCH, type Place, type RecordedRequest } from "./record-place.ts";

/** A record as an answer shows it. */
export type Shown<K extends ServiceKind> = {
  readonly world: World;
  readonly branch: Branch;
  /** Absent while a configuration has all its defaults. */
  readonly record: SettingsRecordOf<K> | (K extends ConfigurationKind ? undefined : never);
  /** With defaults. */
  readonly settings: EffectiveSettings<K>;
  readonly secret: string | undefined;
  /** The instant of the call. */
  readonly now: SimTime;
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
  readonly now: SimTime;
};

/** The query of a list that has pages. */
type Query = Readonly<Record<string, unknown>>;

/** Effect of an operation on its record, and the body of its response; without `answer`, there is no body. */
type Effect<K extends ServiceKind, B> =
  | { readonly does: "list"; readonly answer: (shown: readonly Shown<K>[], query: Query) => object }
  | { readonly does: "read"; readonly answer: (shown: Shown<K>) => object }
  | { readonly does: "delete"; readonly answer?: () => object }
  | {
      /** `update` merges the settings with the present ones, `replace` replaces these. */
      readonly does: "create" | "update" | "replace";
      readonly settings: (
        body: B,
        present: ServiceSettings[K] | undefined,
        now: SimTime,
      ) => Partial<ServiceSettings[K]>;
      /** The secret in the body, which is stored outside history. */
      readonly secret?: (body: B) => string | undefined;
      /** Only a record that the branch has not inherited. */
      readonly onlyOwn?: true;
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
  readonly query?: z.ZodType<Query>;
  readonly body?: B;
  /** The body is a form. */
  readonly form?: true;
  /** The keys of the records, if callers choose them. */
  readonly keys?: (input: Input<z.output<B>>) => readonly string[];
  /** Whether the record is the one that the path names, in addition to its key. */
  readonly matches?: (settings: ServiceSettings[K], input: Input<z.output<B>>) => boolean;
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

/** The routes of a table of operations. */
export function recordedOperationRoutes(
  operations: readonly RecordedOperation[],
  place: Place = ON_BRANCH,
): readonly ApiRoute[] {
  return operations.map((operation) => {
    const [method, path] = operation.route.split(" ") as [ApiMethod, `/${string}`];
    const { status = 200, body, query, form } = operation;
    const { projectIn } = place;
    const params = place.params.extend(operation.params ?? {}) as unknown as z.ZodType<
      Readonly<Record<string, string>>
    >;
    return route(
      `${method} ${place.path}${path}`,
      { status, params, ...omitUndefined({ body, query, form, projectIn }) },
      (request) => perform(operation, request, place.branchOf(request)),
    );
  });
}

function perform(operation: RecordedOperation, request: RecordedRequest, branch: Branch): object | undefined {
  const { kind } = operation;
  const { transaction } = request;
  const { world, now } = transaction;
  const input = { branch, params: request.params, body: request.body, now };
  const database = operation.database?.(input);
  if (database !== undefined) unwrap(findDatabase(branch, database));
  const keys = operation.keys?.(input) ?? [""];
  const [key = ""] = keys;
  const present = operation.matches && findServiceRecord(world, branch.id, kind, key);
  if (present !== undefined && operation.matches?.(present.fields.settings, input) === false)
    unwrap(refuseMissing(branch, kind, key));
  switch (operation.does) {
    case "list":
      unwrap(checkEnabled(world, branch, kind));
      return operation.answer(
        shown(transaction, branch, kind, undefined).list(kind),
        (request.query ?? {}) as Query,
      );
    case "read": {
      const record = unwrap(findEnabledService(world, branch, kind, key));
      return operation.answer(shown(transaction, branch, kind, record));
    }
    case "delete":
      request.execute({ type: "DeleteServiceRecords", ...targetOf(request, branch), kind, keys });
      return operation.answer?.();
    default: {
      const record = write(operation, request, branch, key, database);
      return operation.answer?.(shown(transaction, branch, kind, record));
    }
  }
}

function targetOf({ account }: RecordedRequest, { projectId, id: branchId }: Branch) {
  return { accountId: account.id, projectId, branchId };
}

type Writing = Extract<RecordedOperation, { readonly settings: unknown }>;

/** Creates or updates the record, and stores its secret. */
function write(
  { kind, does, keys, settings, secret: secretOf, onlyOwn, marks }: Writing,
  request: RecordedRequest,
  branch: Branch,
  key: string,
  database: string | undefined,
): ServiceRecord | undefined {
  const { body, transaction } = request;
  const branchId = branch.id;
  const present = findServiceRecord(transaction.world, branchId, kind, key);
  const secret = secretOf?.(body);
  const change = secretChange(secret, storedSecret(transaction, present), does);
  const record = {
    kind,
    settings: settings(body, present?.fields.settings, transaction.now),
    secret: change,
    isMarked: marks,
  };
  const events = request.execute(
    does === "create"
      ? {
          type: "CreateServiceRecord",
          ...targetOf(request, branch),
          record: { ...record, key: keys && key, database } as NewServiceRecord,
        }
      : {
          type: "UpdateServiceRecord",
          ...targetOf(request, branch),
          ...record,
          key,
          replaces: does === "replace",
          onlyOwn,
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

/** An update without a secret keeps the current one. */
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
    now: transaction.now,
    branch,
    record: record as ServiceRecord,
    settings: { ...defaults, ...record?.fields.settings } as EffectiveSettings<ServiceKind>,
    secret: storedSecret(transaction, record),
    list: list as Shown<ServiceKind>["list"],
    configuration: ((other) =>
      list(other)[0] ?? shown(transaction, branch, other, undefined)) as Shown<ServiceKind>["configuration"],
  };
}
