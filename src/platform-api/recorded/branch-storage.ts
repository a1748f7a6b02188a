import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import { branchParams, requestedBranch } from "../http/branch-request.ts";
import type { RouteHandlers } from "../http/request-context.ts";
import { storageRegion, storageUrl } from "./service-urls.ts";

/** S: the address of a branch's buckets. A: every branch can have buckets, so every branch has one. */
export function branchStorageRoutes(handlers: RouteHandlers): Hono {
  const app = new Hono();
  app.get(
    "/projects/:project_id/branches/:branch_id/storage",
    handlers.route({ params: branchParams, notFound: { reason: "branch_not_found" } }, (request) => {
      const branch = requestedBranch(request);
      const { world } = request.transaction;
      return {
        enabled: true,
        s3_endpoint: storageUrl(world, branch),
        region: storageRegion(world, branch),
        force_path_style: true,
      } satisfies public_.BranchStorage;
    }),
  );
  return app;
}
