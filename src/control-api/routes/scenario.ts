import { fail } from "../../http/request.ts";
import { point } from "../http/control-fields.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { type RecordedScenario, RecordingsBusy } from "../http/scenario-fields.ts";
import { strict } from "../http/strict-fields.ts";

/** Turns a part of a world's history into a scenario file. */
export function scenarioRoutes(): readonly ControlApiRoute[] {
  return [recordScenario];
}

const recordScenario = route(
  "GET /scenario",
  { query: strict({ from: point.optional(), to: point.optional() }) },
  async ({ world, query, server }): Promise<RecordedScenario> => {
    if (server.recordScenario === undefined) notRecordable("this world is not in a file");
    // Requests are written to the file within a second, events and the clock at once.
    await world.requests(world.newestRequest(), 1);
    try {
      return await server.recordScenario(world.name, query);
    } catch (error) {
      if (error instanceof RangeError) notRecordable(error.message);
      if (error instanceof RecordingsBusy)
        fail({
          ...{ status: 429, code: "TOO_MANY_REQUESTS", message: error.message },
          headers: { "Retry-After": "1" },
        });
      throw error;
    }
  },
);

function notRecordable(message: string): never {
  fail({ status: 422, code: "NOT_RECORDABLE", message });
}
