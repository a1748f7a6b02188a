import { randomBytes } from "node:crypto";
import { hashSecret, proofOfToken } from "../worlds/secrets.ts";

const TIMEOUT_MS = 5_000;

export type ProbedServer = {
  readonly pid: unknown;
  /** Whether the server has proved that it has this token, or its hash. */
  hasToken(token: string): boolean;
};

/**
 * Challenges the server at `base`, the URL above /api/v2 and /_sim, to prove that it has a control token. No
 * token is sent. `undefined` if nothing responds.
 */
export async function probeServer(base: string): Promise<ProbedServer | undefined> {
  const challenge = randomBytes(16).toString("hex");
  const live = await health(`${base.replace(/\/w\/[^/]+$/, "")}/_sim/health/live?challenge=${challenge}`);
  return (
    live && {
      pid: live.pid,
      hasToken: (token) =>
        live.proof === proofOfToken(token, challenge, Number(live.pid)) ||
        // The server stores only the hash of a team's token.
        (Array.isArray(live.team_proofs) &&
          live.team_proofs.includes(proofOfToken(hashSecret(token), challenge, Number(live.pid)))),
    }
  );
}

async function health(
  url: string,
): Promise<{ pid?: unknown; proof?: unknown; team_proofs?: unknown } | undefined> {
  try {
    const response = await fetch(url, { redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const live: unknown = await response.json().catch(() => ({}));
    return typeof live === "object" && live !== null ? live : {};
  } catch {
    return undefined;
  }
}
