import type { createApiClient } from "@neondatabase/api-client";
import type { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";
import type { IsPathOf } from "./answer-path.ts";

/** What the imitated API answers, from the types of the public client; `never` for a path that is not known. */
export type PlatformAnswer<Method extends string, Path extends string> = PublicAnswers[OperationOf<
  Method,
  Path
>];

/** The answers of all operations. */
export type AnyPlatformAnswer = PublicAnswers[OperationId];

type Operation = (typeof PUBLIC_OPERATIONS)[number];
type OperationOf<Method extends string, Path extends string, O = Operation> = O extends Operation
  ? O["method"] extends Method
    ? IsPathOf<O["path"], Path> extends true
      ? Lowercase<O["operationId"]> & OperationId
      : never
    : never
  : never;

type PublicClient = ReturnType<typeof createApiClient>;
/** By operation id. The names of the client's methods differ from it in capitals. */
type PublicAnswers = {
  [K in keyof PublicClient as K extends string ? Lowercase<K> : never]: PublicClient[K] extends (
    ...input: never[]
  ) => Promise<{ data: infer Data }>
    ? Data
    : never;
};
type OperationId = keyof PublicAnswers & Lowercase<Operation["operationId"]>;
