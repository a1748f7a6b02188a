import { fail } from "../../http/request.ts";
import { type ControlApiRoute, route } from "../http/route.ts";
import { adviceQuestion, whatIfQuestion } from "../http/whatif-fields.ts";

/** Evaluates other settings with the traffic of a world. */
export function whatIfRoutes(): readonly ControlApiRoute[] {
  return [answerWhatIf, advise];
}

const answerWhatIf = route(
  "POST /whatif",
  { body: whatIfQuestion },
  ({ world, server, body: { policy: requested, ...question } }) =>
    orBadRequest(
      server.askWhatIf(world, {
        policies: typeof requested === "string" ? [requested] : requested,
        ...question,
      }),
    ),
);

const advise = route("POST /whatif/advice", { body: adviceQuestion }, ({ world, server, body }) =>
  orBadRequest(server.askAdvice(world, body)),
);

async function orBadRequest<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RangeError) fail({ status: 400, code: "BAD_REQUEST", message: error.message });
    throw error;
  }
}
