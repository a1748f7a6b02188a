import type { IncomingCall, WorldResolver } from "../../http/request.ts";
import { isWrite } from "./decide-request.ts";
import type { Decided } from "./incoming-request.ts";
import type { ApiRoute } from "./route.ts";

/**
 * Resolves when SQL and the API have the roles and databases of each other on a branch, or cannot have them soon; `undefined` if
 * no engine can run. Never rejects.
 */
export type SettleContent = (world: string, branchId: string) => Promise<void> | undefined;

/** Absent: the server accepts no Postgres clients. */
type Options = { readonly settleContent?: SettleContent | undefined; readonly worldOf: WorldResolver };

const CONTENT_PATH = /\/branches\/:branch_id\/(?:roles|databases)/;

/**
 * Decides a request about roles or databases of a branch when the world has learned what SQL has changed. The answer to a change
 * waits until SQL can see it.
 */
export function withSettledContent(
  { settleContent, worldOf }: Options,
  { path }: ApiRoute,
  call: IncomingCall,
  decide: () => Decided | Promise<Decided>,
): Decided | Promise<Decided> {
  if (settleContent === undefined || !CONTENT_PATH.test(path)) return decide();
  const settle = () => settleContent(nameOf(worldOf, call), call.req.param("branch_id") ?? "");
  const learned = settle();
  const decided = learned === undefined ? decide() : learned.then(decide);
  return isWrite(call) ? after(decided, settle) : decided;
}

async function after(
  decided: Decided | Promise<Decided>,
  settle: () => Promise<void> | undefined,
): Promise<Decided> {
  const answer = await decided;
  await settle();
  return answer;
}

/** A world that cannot be opened has no engines. The request is answered with the reason. */
function nameOf(worldOf: WorldResolver, call: IncomingCall): string {
  try {
    return worldOf(call).name;
  } catch {
    return "";
  }
}
