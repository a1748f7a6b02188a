import type { SimTime } from "../../kernel/time.ts";
import { CLIENT_CONNECTION_PREFIX } from "../../platform/model/connection.ts";
import type { Simulation } from "../../simulation/simulation.ts";

/**
 * Ends the work of Postgres clients, and closes their connections: no client outlives the process that served
 * it, and a copy of a world has none. `at` is the last stored instant of the world, so that the time of the
 * opening does not matter. The work ended then, as far as it is known.
 */
export function endClients(simulation: Simulation, at: SimTime): void {
  const { world } = simulation;
  for (const { id, phase } of [...world.computes.loaded()]) {
    if (phase.state !== "active" || phase.spanSince === undefined) continue;
    const { spanSince: beganAt } = phase;
    simulation.execute({ type: "EndSpan", endpointId: id, beganAt, until: at, arrivals: 0 }, at);
  }
  for (const { endpointId, id: connectionId } of world.connections.toArray()) {
    if (!connectionId.startsWith(CLIENT_CONNECTION_PREFIX)) continue;
    // Refused if a suspend has closed it.
    const activity = { endpointId, kind: "disconnect", connectionId } as const;
    simulation.execute({ type: "RecordActivity", activity }, at);
  }
}
