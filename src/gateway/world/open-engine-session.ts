import type { ComputeHost } from "../compute/compute-host.ts";
import { CLIENT_ERRORS, ConnectionRejected } from "../errors.ts";
import type { CancelKeys } from "../relay/cancel-keys.ts";
import { type EngineSession, logIn } from "../relay/engine-login.ts";
import type { ServedWorld } from "./served-world.ts";
import type { Admitted } from "./world-connections.ts";

/**
 * Starts the engine if necessary, and opens a session of it. The client works meanwhile, so that its compute
 * does not suspend. The caller releases the host after the session.
 */
export async function openEngineSession(
  host: ComputeHost,
  served: ServedWorld,
  admitted: Admitted,
  parameters: ReadonlyMap<string, string>,
  cancelKeys: CancelKeys,
): Promise<EngineSession> {
  if (!(await served.beginWork(admitted))) throw new ConnectionRejected(CLIENT_ERRORS.terminated);
  try {
    const engine = await host.acquire();
    try {
      return await logIn(engine.address, parameters, cancelKeys);
    } catch (error) {
      host.release();
      throw error;
    }
  } finally {
    served.endWork(admitted);
  }
}
