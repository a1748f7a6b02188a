import type { ComputeHost } from "../compute/compute-host.ts";
import { EngineExited, hasExited } from "../compute/engine-exit.ts";
import { CLIENT_ERRORS, ConnectionRejected } from "../errors.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import { type EngineSession, EngineUnreachable, logIn } from "../relay/engine-login.ts";
import type { ServedWorld } from "./served-world.ts";
import type { Admitted } from "./world-connections.ts";

/**
 * Starts the engine if necessary, and opens a session of it. The client works meanwhile, so that its compute
 * does not suspend. The caller releases the host after the session. `isEnded`: whether the world has ended the
 * connection.
 */
export async function openEngineSession(
  host: ComputeHost,
  served: ServedWorld,
  admitted: Admitted,
  parameters: ReadonlyMap<string, string>,
  cancelKeys: CancelKeys,
  isEnded: () => boolean,
): Promise<EngineSession> {
  if (!(await served.beginWork(admitted))) throw new ConnectionRejected(CLIENT_ERRORS.terminated);
  const open = () => acquireAndLogIn(host, parameters, cancelKeys);
  try {
    return await open().catch((error: unknown) => {
      // One that was killed is started again, unless the world has ended the session meanwhile.
      if (!(error instanceof EngineExited) || isEnded()) throw error;
      return open();
    });
  } finally {
    served.endWork(admitted);
  }
}

async function acquireAndLogIn(
  host: ComputeHost,
  parameters: ReadonlyMap<string, string>,
  cancelKeys: CancelKeys,
): Promise<EngineSession> {
  const engine = await host.acquire();
  try {
    return await logIn(engine.address, parameters, cancelKeys);
  } catch (error) {
    host.release();
    const isLost = error instanceof EngineUnreachable && (await hasExited(engine));
    throw isLost ? new EngineExited("Postgres has exited", { cause: error }) : error;
  }
}
