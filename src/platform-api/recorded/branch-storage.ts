import type * as public_ from "@neondatabase/api-client";
import { branchParams, requestedBranch } from "../http/branch-request.ts";
import { type ApiRoute, route } from "../http/route.ts";
import { storageRegion, storageUrl } from "./service-urls.ts";

/** S: the address of a branch's buckets. A: every branch can have buckets, so every branch has one. */
export function branchStorageRoutes(): readonly ApiRoute[] {
  return [getProjectBranchStorage];
}

const getProjectBranchStorage = route(
  "GET /projects/:project_id/branches/:branch_id/storage",
  { params: branchParams, notFound: { reason: "branch_not_found" } },
  (request) => {
    const branch = requestedBranch(request);
    const { world } = request.transaction;
    return {
      enabled: true,
      s3_endpoint: storageUrl(world, branch),
      region: storageRegion(world, branch),
      force_path_style: true,
    } satisfies public_.BranchStorage;
  },
);
