import { fail } from "../../http/request.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { whatIfQuestion } from "../http/whatif-fields.ts";

/** Replays the traffic of a world under other policies. */
export function whatIfRoutes(): readonly ControlApiRoute[] {
  return [answerWhatIf];
}

const answerWhatIf = route(
  "POST /whatif",
  { body: whatIfQuestion },
  async ({ world, server, body: { policy: requested, ...question } }) => {
    try {
      return await server.askWhatIf(world, {
        policies: typeof requested === "string" ? [requested] : requested,
        ...question,
      });
    } catch (error) {
      if (error instanceof RangeError) fail({ status: 400, code: "BAD_REQUEST", message: error.message });
      throw error;
    }
  },
);
