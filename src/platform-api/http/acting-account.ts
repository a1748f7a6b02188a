import type { IncomingCall } from "../../http/request.ts";

/** A symbol, so that nothing that a client sends can set it. */
const ACTING_ACCOUNT: unique symbol = Symbol("account that a request acts for");

type ActingEnv = { readonly [ACTING_ACCOUNT]?: string };

/** The environment of a request that acts for an account without an API key. */
export function actFor(accountId: string, env: object): object {
  return { ...env, [ACTING_ACCOUNT]: accountId } satisfies ActingEnv;
}

/** The account that the caller of the control API acts for; `undefined` for a request with an API key. */
export function actingAccountId({ env }: IncomingCall): string | undefined {
  return (env as ActingEnv | undefined)?.[ACTING_ACCOUNT];
}
