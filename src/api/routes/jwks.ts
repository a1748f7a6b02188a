import type * as public_ from "@neondatabase/api-client";
import { Hono } from "hono";
import * as z from "zod";
import { timestamp } from "../../http/instants.ts";
import { found } from "../../http/request.ts";
import { librariesOf } from "../../platform/catalog/preload-libraries.ts";
import { findProject } from "../../platform/lookup.ts";
import { findRecord, recordsOf } from "../../platform/project/evolve-settings-record.ts";
import type { RecordOf } from "../../platform/project/settings-record.ts";
import { id, postgresName } from "../http/query-fields.ts";
import type { Caller } from "../http/request-context.ts";

const MAX_ROLES = 10; // S
const MAX_URL_LENGTH = 2048;

const inProject = z.object({ project_id: id });

const addBody = z.object({
  jwks_url: z
    .url({ protocol: /^https$/, error: "must be an https URL like https://example.com/.well-known/jwks.json" })
    .max(MAX_URL_LENGTH),
  provider_name: z.string().min(1).max(256),
  branch_id: id.optional(),
  jwt_audience: z.string().optional(),
  role_names: z.array(postgresName).max(MAX_ROLES).optional(),
  skip_role_creation: z.boolean().optional(),
});

/** S: who signs the tokens that a project's databases accept, and what may be loaded into its computes. */
export function jwksRoutes(caller: Caller): Hono {
  const app = new Hono();

  app.get(
    "/projects/:project_id/jwks",
    caller.route({ params: inProject }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      return { jwks: recordsOf(turn.world, project.id, "jwks").map(renderJwks) } satisfies public_.ProjectJWKSResponse;
    }),
  );

  app.post(
    "/projects/:project_id/jwks",
    caller.route({ status: 201, params: inProject, body: addBody }, ({ account, params, body, execute }) => {
      const events = execute({
        type: "AddJwks",
        accountId: account.id,
        projectId: params.project_id,
        jwksUrl: body.jwks_url,
        providerName: body.provider_name,
        branchId: body.branch_id,
        jwtAudience: body.jwt_audience,
        roleNames: body.role_names,
        skipRoleCreation: body.skip_role_creation,
      });
      for (const event of events) {
        if (event.type !== "RecordCreated" || event.record.kind !== "jwks") continue;
        // A: computes need no new configuration for it that one could wait for.
        return { jwks: renderJwks(event.record), operations: [] } satisfies public_.JWKSCreationOperation;
      }
      throw new Error("AddJwks added none");
    }),
  );

  app.delete(
    "/projects/:project_id/jwks/:jwks_id",
    caller.route({ params: inProject.extend({ jwks_id: id }) }, ({ account, params, turn, execute }) => {
      const { project_id, jwks_id } = params;
      const jwks = findRecord(turn.world, project_id, "jwks", jwks_id);
      execute({ type: "DeleteJwks", accountId: account.id, projectId: project_id, jwksId: jwks_id });
      if (jwks === undefined) throw new Error("DeleteJwks deleted none");
      return renderJwks(jwks);
    }),
  );

  app.get(
    "/projects/:project_id/available_preload_libraries",
    caller.route({ params: inProject }, ({ account, params, turn }) => {
      const project = found(findProject(turn.world, account.id, params.project_id));
      return {
        libraries: librariesOf(project).map(({ name, description, version, isDefault, isExperimental }) => ({
          library_name: name,
          description,
          is_default: isDefault,
          is_experimental: isExperimental ?? false,
          version,
        })),
      } satisfies public_.AvailablePreloadLibraries;
    }),
  );

  return app;
}

function renderJwks({ id: jwksId, scope, fields, createdAt, updatedAt }: RecordOf<"jwks">) {
  return {
    id: jwksId,
    project_id: scope,
    ...(fields.branchId === undefined ? {} : { branch_id: fields.branchId }),
    jwks_url: fields.jwksUrl,
    provider_name: fields.providerName,
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
    ...(fields.jwtAudience === undefined ? {} : { jwt_audience: fields.jwtAudience }),
    role_names: [...fields.roleNames],
  } satisfies public_.JWKS;
}
