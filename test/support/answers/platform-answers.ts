import type { createApiClient } from "@neondatabase/api-client";
import type { PUBLIC_OPERATIONS } from "../../../src/platform-api/coverage/public-operations.ts";
import type { IsPathOf } from "./answer-path.ts";

/** Type of the imitated API's answer, from the types of the public client; `never` for an unknown path. */
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
/** Answers by operation id. The names of the client's methods differ from it in capitals. */
type PublicAnswers = {
  [K in keyof PublicClient as K extends string ? Lowercase<K> : never]: PublicClient[K] extends (
    ...input: never[]
  ) => Promise<{ data: infer Data }>
    ? Data
    : never;
};
type OperationId = keyof PublicAnswers & Lowercase<Operation["operationId"]>;
