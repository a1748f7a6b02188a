import { Hono } from "hono";
import { fail } from "../../http/request.ts";
import { type ControlOptions, handler } from "../http/handler.ts";
import { whatIfQuestion } from "../http/whatif-fields.ts";

/** Replays the traffic of a world under other policies. */
export function whatIfRoutes(options: ControlOptions): Hono {
  const app = new Hono();
  app.post(
    "/whatif",
    handler(
      options,
      { body: whatIfQuestion },
      async ({ world, body: { policy: requested, ...question } }) => {
        try {
          return await options.askWhatIf(world, {
            policies: typeof requested === "string" ? [requested] : requested,
            ...question,
          });
        } catch (error) {
          if (error instanceof RangeError) fail({ status: 400, code: "BAD_REQUEST", message: error.message });
          throw error;
        }
      },
    ),
  );
  return app;
}
