import { agreement } from "../document/shadow-objects.ts";
import { type ControlApiRoute, route } from "../http/route.ts";

/** The result that `standin shadow --world` stored when it wrote the past of a world. */
export function shadowRoutes(): readonly ControlApiRoute[] {
  return [getShadow];
}

const getShadow = route("GET /shadow", {}, ({ world, server }) => {
  const record = server.worlds.shadowRecord(world.name);
  // One of another release may have another form.
  const parsed = agreement.safeParse(record?.agreement);
  return { agreement: parsed.success ? parsed.data : null };
});
