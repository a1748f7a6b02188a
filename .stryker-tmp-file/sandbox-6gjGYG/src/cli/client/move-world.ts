// @ts-nocheck
import { setTimeout as sleep } from "node:timers/promises";
import { CliError } from "../terminal/cli-error.ts";
import { interruptible } from "../terminal/interrupt.ts";
import { showProgress } from "../terminal/progress-display.ts";
import { type ControlCall, requireServer, type ServerTarget } from "./client.ts";
import { callRoute } from "./control-route.ts";

const ASK_PROGRESS_EVERY_MS = 500;

export type WorldMoveOptions = ServerTarget & {
  readonly to?: string;
  readonly toControlToken?: string;
  readonly forget?: boolean;
  readonly json?: boolean;
};

/** Moves a world of a running server, or forgets a move. Ctrl-C cancels a move that is not complete. */
export async function moveWorld(
  name: string,
  { to, toControlToken, forget, ...target }: WorldMoveOptions,
): Promise<{ readonly response: object; readonly text: string }> {
  if ((to === undefined) === (forget === undefined))
    throw new CliError("give either --to, the URL of the other server, or --forget", true);
  const server = await requireServer({ ...target, world: "default" });
  if (to === undefined) {
    const response = await callRoute(server.control, "DELETE /worlds/:name/move", { params: [name] });
    return { response, text: `the name ${name} is free again, or its world is served here again` };
  }
  const token = toControlToken ?? server.token;
  const response = await interruptible(async (signal) => {
    const move = callRoute(
      (method, path, body) => server.call(method, path, body, signal),
      "POST /worlds/:name/move",
      {
        params: [name],
        body: { to, control_token: token },
      },
    );
    await withProgress(name, server.control, move);
    return move;
  });
  return { response, text: `moved world ${name} to ${response.to} at event ${response.seq}` };
}

async function withProgress(name: string, call: ControlCall, move: Promise<unknown>): Promise<void> {
  const progress = showProgress(`moving world ${name}`);
  const ended = move.then(
    () => true,
    () => true,
  );
  try {
    while (!(await Promise.race([ended, sleep(ASK_PROGRESS_EVERY_MS, false, { ref: false })]))) {
      const state = await callRoute(call, "GET /worlds/:name/move", { params: [name] });
      if (state.moving) await progress.report(state.sent_bytes, state.total_bytes);
    }
  } finally {
    progress.end();
  }
}
