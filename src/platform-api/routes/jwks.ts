import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { id } from "../../http/fields.ts";
import { unwrap } from "../../http/request.ts";
import { createdRecord } from "../../http/required-event.ts";
import { timestamp } from "../../http/timestamps.ts";
import { omitUndefined } from "../../kernel/omit-undefined.ts";
import { preloadLibrariesFor } from "../../platform/catalog/preload-libraries.ts";
import type { SettingsRecordOf } from "../../platform/model/settings-record.ts";
import { findRecord, recordsOf } from "../../platform/rules/settings/evolve-settings-record.ts";
import { findProject } from "../../platform/world/lookup.ts";
import { postgresName } from "../http/request-fields.ts";
import { type ApiRoute, route } from "../http/route.ts";

const MAX_ROLES = 10; // S
const MAX_URL_LENGTH = 2048;

const projectParams = z.object({ project_id: id });

const addBody = z.object({
  jwks_url: z
    .url({
      protocol: /^https$/,
      error: "must be an https URL like https://example.com/.well-known/jwks.json",
    })
    .max(MAX_URL_LENGTH),
  provider_name: z.string().min(1).max(256),
  branch_id: id.optional(),
  jwt_audience: z.string().optional(),
  role_names: z.array(postgresName).max(MAX_ROLES).optional(),
  skip_role_creation: z.boolean().optional(),
});

/**
 * S: the key sets whose tokens the databases of a project accept, and the libraries that its computes may
 * preload.
 */
export function jwksRoutes(): readonly ApiRoute[] {
  return [getProjectJWKS, addProjectJWKS, deleteProjectJWKS, getAvailablePreloadLibraries];
}

const getProjectJWKS = route(
  "GET /projects/:project_id/jwks",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return {
      jwks: recordsOf(transaction.world, project.id, "jwks").map(renderJwks),
    } satisfies public_.ProjectJWKSResponse;
  },
);

const addProjectJWKS = route(
  "POST /projects/:project_id/jwks",
  { status: 201, params: projectParams, body: addBody },
  ({ account, params, body, execute }) => {
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
    // A: computes need no new configuration, so there are no operations.
    return {
      jwks: renderJwks(createdRecord(events, "jwks")),
      operations: [],
    } satisfies public_.JWKSCreationOperation;
  },
);

const deleteProjectJWKS = route(
  "DELETE /projects/:project_id/jwks/:jwks_id",
  { params: projectParams.extend({ jwks_id: id }) },
  ({ account, params, transaction, execute }) => {
    const { project_id, jwks_id } = params;
    const jwks = findRecord(transaction.world, project_id, "jwks", jwks_id);
    execute({ type: "DeleteJwks", accountId: account.id, projectId: project_id, jwksId: jwks_id });
    if (jwks === undefined) throw new Error("DeleteJwks deleted no record");
    return renderJwks(jwks);
  },
);

const getAvailablePreloadLibraries = route(
  "GET /projects/:project_id/available_preload_libraries",
  { params: projectParams },
  ({ account, params, transaction }) => {
    const project = unwrap(findProject(transaction.world, account.id, params.project_id));
    return {
      libraries: preloadLibrariesFor(project).map(
        ({ name, description, version, isDefault, isExperimental }) => ({
          library_name: name,
          description,
          is_default: isDefault,
          is_experimental: isExperimental ?? false,
          version,
        }),
      ),
    } satisfies public_.AvailablePreloadLibraries;
  },
);

function renderJwks({ id: jwksId, scope, fields, createdAt, updatedAt }: SettingsRecordOf<"jwks">) {
  return {
    id: jwksId,
    project_id: scope,
    ...omitUndefined({ branch_id: fields.branchId }),
    jwks_url: fields.jwksUrl,
    provider_name: fields.providerName,
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
    ...omitUndefined({ jwt_audience: fields.jwtAudience }),
    role_names: [...fields.roleNames],
  } satisfies public_.JWKS;
}
