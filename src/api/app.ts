import { Hono } from "hono";
import { type Failure, notImitated } from "../http/errors.ts";
import { accountRoutes } from "./account.ts";
import { apiKeyRoutes } from "./api-keys.ts";
import { branchRoutes } from "./branches.ts";
import { type ApiOptions, Caller } from "./call.ts";
import { consumptionRoutes } from "./consumption.ts";
import { databaseRoutes } from "./databases.ts";
import { endpointRoutes } from "./endpoints.ts";
import { jwksRoutes } from "./jwks.ts";
import { operationRoutes } from "./operations.ts";
import { organizationKeyRoutes } from "./organization-keys.ts";
import { organizationRoutes } from "./organizations.ts";
import { permissionRoutes } from "./permissions.ts";
import { projectRoutes } from "./projects.ts";
import { PUBLIC_OPERATIONS } from "./public-operations.ts";
import { roleRoutes } from "./roles.ts";
import { servedOperations } from "./served.ts";
import { snapshotRoutes } from "./snapshots.ts";
import { transferRoutes } from "./transfers.ts";
import { vpcEndpointRoutes } from "./vpc-endpoints.ts";

/** The routes of the imitated API, a list of them for every resource family. */
export function routeFamilies(caller: Caller): readonly Hono[] {
  return [
    apiKeyRoutes(caller),
    projectRoutes(caller),
    endpointRoutes(caller),
    branchRoutes(caller),
    roleRoutes(caller),
    databaseRoutes(caller),
    snapshotRoutes(caller),
    operationRoutes(caller),
    accountRoutes(caller),
    organizationRoutes(caller),
    organizationKeyRoutes(caller),
    jwksRoutes(caller),
    permissionRoutes(caller),
    vpcEndpointRoutes(caller),
    transferRoutes(caller),
    consumptionRoutes(caller),
  ];
}

/** The imitated v2 API, relative to its base URL. */
export function createApi(options: ApiOptions): Hono {
  const caller = new Caller(options);
  const app = new Hono();
  const families = routeFamilies(caller);
  for (const family of families) app.route("/", family);
  const served = servedOperations(families);
  for (const { method, path, operationId } of PUBLIC_OPERATIONS) {
    if (served.has(operationId)) continue;
    app.on(
      method,
      path.replaceAll(/\{(\w+)\}/g, ":$1"),
      caller.failing(() =>
        notImitated(`${operationId} (${method} ${path}) is not imitated; imitated are ${[...served].sort().join(", ")}`),
      ),
    );
  }
  app.all(
    "*",
    caller.failing(({ req }) => unknownPath(req.method, relativePath(req.path))),
  );
  return app;
}

/** 405 where the path is known by other methods, else 404 with a hint at what is often meant. */
function unknownPath(method: string, path: string): Failure {
  const allowed = [
    ...new Set(PUBLIC_OPERATIONS.filter((operation) => patternOf(operation.path).test(path)).map((operation) => operation.method)),
  ];
  if (allowed.length > 0) {
    return {
      status: 405,
      code: "METHOD_NOT_ALLOWED",
      message: `${method} is not allowed for ${path}; allowed are ${allowed.join(", ")}`,
      headers: { Allow: allowed.join(", ") },
    };
  }
  const doubled = /^\/api\/v2(\/|$)/.test(path);
  const slashed = path.length > 1 && path.endsWith("/");
  const hint = slashed
    ? `; paths have no slash at their end: ${path.replace(/\/+$/, "")}`
    : doubled
      ? "; /api/v2 is in it twice: the base URL ends in it already"
      : "";
  return { status: 404, code: "UNKNOWN_PATH", message: `there is no path ${path} in this API${hint}` };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
}

/** The path behind the base URL, that of the default world or of another one. */
function relativePath(path: string): string {
  return path.replace(/^(\/w\/[^/]+)?\/api\/v2/, "") || "/";
}
