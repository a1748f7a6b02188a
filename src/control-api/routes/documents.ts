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
  let document: object | undefined;
  return route("GET /openapi.json", {}, async ({ server }) => {
    // Loaded on demand: its schemas of answers are large, and few clients read them.
    const { controlDocument } = await import("../openapi.ts");
    document ??= controlDocument(routes(), server.version);
    return document;
  });
};
