import type { Account } from "../../platform/model/account.ts";
import type { ApiKey } from "../../platform/model/api-key.ts";
import { JsonList } from "../render/json-list.ts";
import type { AuthenticatedHandler } from "./incoming-request.ts";

type LastList = {
  readonly account: Account;
  readonly scope: ApiKey["scope"];
  /** `CachedBodies`, whose size is bounded, decides how long it exists. */
  readonly list: WeakRef<JsonList>;
};

/** The last list that a URL was answered with. It is the answer again while the same caller would get the same list. */
export class RepeatedList {
  #last: LastList | undefined;

  /** A handler that uses the one of `handlerOf` for another answer than the last one. */
  before(handlerOf: () => AuthenticatedHandler): AuthenticatedHandler {
    return (transaction, caller) => {
      const { account, scope } = caller.principal;
      const last = this.#last;
      if (last !== undefined && last.account === account && last.scope === scope) {
        const list = last.list.deref();
        if (list?.isCurrent(transaction)) return { status: 200, body: list };
      }
      const response = handlerOf()(transaction, caller);
      if ("body" in response && response.body instanceof JsonList && response.status === 200)
        this.#last = { account, scope, list: new WeakRef(response.body) };
      return response;
    };
  }
}
