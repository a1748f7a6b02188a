import type { ComputeHost } from "../compute/compute-host.ts";
import { EngineExited, hasExited } from "../data/engine-exit.ts";
import {
  ADMIN_DATABASE,
  type EngineAddress,
  type RunningEngine,
  StatementRejected,
} from "../engine/engine.ts";
import { authenticationFailed, CLIENT_ERRORS, ConnectionRejected } from "../protocol/errors.ts";
import { EngineUnreachable } from "../relay/engine-login.ts";
import type { Admitted } from "./admit-connection.ts";
import type { ServedWorld } from "./served-world.ts";

/** SQLSTATEs of a session that Postgres has ended because it ends. */
const ENDS_SESSION = /^57P0/;

/** `passwordOf`: the role whose password the client has sent; `undefined`: it needs none. */
export type SessionTarget = { readonly database: string; readonly passwordOf: string | undefined };

/**
 * Starts the engine if necessary, and opens a session of a database with `open`. The client works in the meantime, so that its
 * compute does not suspend. The caller releases the host after the session. `isEnded`: whether the world has ended
 * the connection.
 */
export async function openEngineSession<T>(
  host: ComputeHost,
  served: ServedWorld,
  admitted: Admitted,
  target: SessionTarget,
  open: (address: EngineAddress) => Promise<T>,
  isEnded: () => boolean,
): Promise<T> {
  // R: its view has the figures of the whole compute.
  if (target.database === ADMIN_DATABASE) await served.showReads(admitted);
  if (!(await served.beginWork(admitted))) throw new ConnectionRejected(CLIENT_ERRORS.terminated);
  try {
    return await acquireAndOpen(host, target, open, isEnded).catch((error: unknown) => {
      // Postgres was killed, and is started again, unless the world has ended the session in the meantime.
      if (!(error instanceof EngineExited) || isEnded()) throw error;
      return acquireAndOpen(host, target, open, isEnded);
    });
  } finally {
    served.endWork(admitted);
  }
}

async function acquireAndOpen<T>(
  host: ComputeHost,
  target: SessionTarget,
  open: (address: EngineAddress) => Promise<T>,
  isEnded: () => boolean,
): Promise<T> {
  const engine = await host.acquire();
  if (isEnded()) {
    host.release();
    // The compute may have been suspended before its engine could be stopped.
    await host.stopIfUnused();
    throw new ConnectionRejected(CLIENT_ERRORS.terminated);
  }
  try {
    await admit(host, engine, target).catch((error: unknown) => {
      throw isRejection(error) ? error : new EngineUnreachable("the engine was lost", { cause: error });
    });
    return await open(engine.address);
  } catch (error) {
    host.release();
    const isLost = error instanceof EngineUnreachable && (await hasExited(engine));
    throw isLost ? new EngineExited("Postgres has exited", { cause: error }) : error;
  }
}

/** Postgres trusts the gateway, so it does not look at the expiry of the password. */
async function admit(
  host: ComputeHost,
  engine: RunningEngine,
  { database, passwordOf: role }: SessionTarget,
): Promise<void> {
  await engine.openToClients(database);
  if (role !== undefined && (await host.hasExpired(engine, role)))
    throw new ConnectionRejected(authenticationFailed(role));
}

/** Postgres has answered, and goes on. */
function isRejection(error: unknown): boolean {
  if (error instanceof ConnectionRejected) return true;
  return error instanceof StatementRejected && !ENDS_SESSION.test(error.code);
}
