import { setImmediate as nextTurn } from "node:timers/promises";
import { type ControlApiRoute, route } from "../http/route.ts";
import type { DocumentedRoute } from "../openapi.ts";

/** Documents: the coverage of the imitated API, and the OpenAPI document of the control API. */
export function documentRoutes(routes: () => readonly DocumentedRoute[]): readonly ControlApiRoute[] {
  return [getCoverage(), getDocument(routes)];
}

const getCoverage = () => {
  // Fixed, but it takes milliseconds to compute.
  let coverage: unknown;
  return route("GET /coverage", {}, ({ server }) => {
    coverage ??= server.coverage();
    return coverage;
  });
};

const getDocument = (routes: () => readonly DocumentedRoute[]) => {
  // Fixed, but it takes milliseconds to compute.
  let document: Promise<object> | undefined;
  return route("GET /openapi.json", {}, ({ server }) => {
    document ??= writeDocument(routes(), server.version).catch((error: unknown) => {
      // A later call tries again.
      document = undefined;
      throw error;
    });
    return document;
  });
};

/** In steps, between which other requests are answered. */
async function writeDocument(routes: readonly DocumentedRoute[], version: string): Promise<object> {
  // Loaded on demand: its schemas of answers are large, and few clients read them.
  const { controlDocument } = await import("../openapi.ts");
  const steps = controlDocument(routes, version);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
    await nextTurn();
  }
}
