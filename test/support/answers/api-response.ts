import type { Answered } from "./answered.ts";
import type { AnyControlAnswer, ControlAnswerAt } from "./control-answers.ts";
import type { AnyPlatformAnswer, PlatformAnswer } from "./platform-answers.ts";

/** An answer of one of the two APIs. */
export type ApiResponse<Body = AnyBody> = {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
};

/** Calls the imitated API by the path after the base URL. */
export type PlatformCall = <const Method extends string, const Path extends string>(
  method: Method,
  path: Path,
  body?: unknown,
  key?: string,
) => Promise<ApiResponse<BodyOf<PlatformAnswer<Method, Path>>>>;

/** Calls the control API by the path after /_sim. */
export type ControlCall = <const Method extends string, const Path extends string>(
  method: Method,
  path: Path,
  body?: unknown,
) => Promise<ApiResponse<BodyOf<ControlAnswerAt<Method, Path>>>>;

/** The body of a successful or of a rejected request. If the path is not known, it has the fields of all answers. */
export type BodyOf<Answer> = [Answer] extends [never] ? AnyBody : Answered<Answer> & Rejection;

/** The body of an answer to a call whose path is not known when the test is compiled. */
export type AnyBody = Answered<Exclude<AnyPlatformAnswer | AnyControlAnswer | Rejection, NotAnObject>>;

// biome-ignore lint/suspicious/noConfusingVoidType: the public client's type of an answer without a body
type NotAnObject = readonly unknown[] | string | void;

/** Body of the answer to a rejected request. */
export type Rejection = { readonly code: string; readonly message: string; readonly request_id: string };
