import { Hono } from "hono";
import { type ErrorResponse, notImitated } from "../http/errors.ts";
import { KNOWN_OPERATIONS } from "./coverage/client-operations.ts";
import { servedOperations } from "./coverage/served-operations.ts";
import type { ApiRoute } from "./http/route.ts";
import { type ApiOptions, RouteHandlers } from "./http/route-handlers.ts";
import { recordedRoutes } from "./recorded/recorded-routes.ts";
import { accountRoutes } from "./routes/account.ts";
import { apiKeyRoutes } from "./routes/api-keys.ts";
import { branchRestoreRoutes } from "./routes/branch-restore.ts";
import { branchSchemaRoutes } from "./routes/branch-schema.ts";
import { snapshotRoutes } from "./routes/branch-snapshots.ts";
import { branchRoutes } from "./routes/branches.ts";
import { connectionUriRoutes } from "./routes/connection-uri.ts";
import { consumptionRoutes } from "./routes/consumption.ts";
import { databaseRoutes } from "./routes/databases.ts";
import { endpointRoutes } from "./routes/endpoints.ts";
import { jwksRoutes } from "./routes/jwks.ts";
import { operationRoutes } from "./routes/operations.ts";
import { organizationKeyRoutes } from "./routes/organization-keys.ts";
import { organizationRoutes } from "./routes/organizations.ts";
import { permissionRoutes } from "./routes/permissions.ts";
import { projectRoutes } from "./routes/projects.ts";
import { roleRoutes } from "./routes/roles.ts";
import { transferRoutes } from "./routes/transfers.ts";
import { vpcEndpointRoutes } from "./routes/vpc-endpoints.ts";
import { bucketObjectRoutes } from "./storage/bucket-objects.ts";

/** The routes of the imitated API, by resource family. */
export function imitatedRoutes(): readonly ApiRoute[] {
  return [
    ...apiKeyRoutes(),
    ...projectRoutes(),
    ...connectionUriRoutes(),
    ...endpointRoutes(),
    ...branchRoutes(),
    ...branchRestoreRoutes(),
    ...branchSchemaRoutes(),
    ...bucketObjectRoutes(),
    ...roleRoutes(),
    ...databaseRoutes(),
    ...snapshotRoutes(),
    ...operationRoutes(),
    ...accountRoutes(),
    ...organizationRoutes(),
    ...organizationKeyRoutes(),
    ...jwksRoutes(),
    ...permissionRoutes(),
    ...vpcEndpointRoutes(),
    ...transferRoutes(),
    ...consumptionRoutes(),
  ];
}

/** The imitated v2 API, relative to its base URL. */
export function createApi(options: ApiOptions): Hono {
  const handlers = new RouteHandlers(options);
  const app = new Hono();
  const routes = [...imitatedRoutes(), ...recordedRoutes()];
  for (const route of routes) app.on(route.method, route.path, handlers.handlerFor(route));
  const served = servedOperations(routes);
  for (const { method, path, operationId } of KNOWN_OPERATIONS) {
    if (served.has(operationId)) continue;
    app.on(
      method,
      path.replaceAll(/\{(\w+)\}/g, ":$1"),
      handlers.errorRoute(() =>
        notImitated(
          `${operationId} (${method} ${path}) is not imitated; GET /_sim/coverage lists the operations that are`,
        ),
      ),
    );
  }
  app.all(
    "*",
    handlers.errorRoute(({ req }) => unknownPathFailure(req.method, relativePath(req.path))),
  );
  return app;
}

/** 405 if the path exists with other methods, else 404 with a hint for common mistakes. */
function unknownPathFailure(method: string, path: string): ErrorResponse {
  const allowed = [
    ...new Set(
      KNOWN_OPERATIONS.filter((operation) => pathPattern(operation.path).test(path)).map(
        (operation) => operation.method,
      ),
    ),
  ];
  if (allowed.length > 0) {
    return {
      status: 405,
      code: "METHOD_NOT_ALLOWED",
      message: `${method} is not allowed for ${path}; allowed: ${allowed.join(", ")}`,
      headers: { Allow: allowed.join(", ") },
    };
  }
  const hasDoubledBase = /^\/api\/v2(\/|$)/.test(path);
  const hasTrailingSlash = path.length > 1 && path.endsWith("/");
  const hint = hasTrailingSlash
    ? `; remove the trailing slash: ${withoutTrailingSlashes(path)}`
    : hasDoubledBase
      ? "; it contains /api/v2 twice: the base URL already ends in /api/v2"
      : "";
  return { status: 404, code: "UNKNOWN_PATH", message: `there is no path ${path} in this API${hint}` };
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end -= 1;
  return path.slice(0, end);
}

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** The path after the base URL of the default world or of a named one. */
function relativePath(path: string): string {
  return path.replace(/^(\/w\/[^/]+)?\/api\/v2/, "") || "/";
}
