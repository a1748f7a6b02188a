import type { Scenario } from "../../scenario/file/scenario-schema.ts";
import { everyStep } from "../../scenario/file/step-schema.ts";
import { isClosedLoop } from "../../scenario/file/traffic-schema.ts";
import { CannotRunError } from "../../scenario/run/target.ts";

/** Rejects a scenario that needs more of its target than a server offers. */
export function rejectUnsupported({ steps, traffic, world, state }: Scenario): void {
  if (world.file !== undefined)
    throw new CannotRunError(
      "world.file: a scenario that begins with a recorded world cannot run on a server, which has its own world",
    );
  if (world.sql_clock === "world")
    throw new CannotRunError(
      "world.sql_clock: the clock of SQL is that of the server; leave this out, and start the server with --sql-clock world",
    );
  if (state !== undefined)
    throw new CannotRunError(
      "state: the end state cannot be compared on a server, whose world has other content too",
    );
  if ([...everyStep(steps)].some(({ restart }) => restart !== undefined))
    throw new CannotRunError("steps: restart cannot be done on a server from outside");
  const closedLoop = traffic.find((source) => isClosedLoop(source));
  if (closedLoop !== undefined) {
    throw new CannotRunError(
      `traffic: the closed-loop source ${closedLoop.name} reacts within an instant, which is not possible over HTTP`,
    );
  }
}
