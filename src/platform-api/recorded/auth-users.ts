import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { email } from "../http/request-fields.ts";
import { recorded, type Shown } from "./recorded-operation.ts";

const MAX_NAME = 255; // S
const USER = {
  kind: "authUser",
  params: { auth_user_id: z.string() },
  keys: ({ params }: { readonly params: Readonly<Record<string, string>> }) => [params["auth_user_id"] ?? ""],
} as const;
/** S: of the request that creates a user. */
export const newAuthUser = z.object({ email, name: z.string().min(1).max(MAX_NAME).exactOptional() });

/** S: the users of a branch's auth. The platform lists them in a table of the database, not by a call. */
export const AUTH_USER_OPERATIONS = [
  recorded({
    route: "POST /auth/users",
    status: 201,
    kind: "authUser",
    does: "create",
    body: newAuthUser,
    settings: (body) => body,
    answer: renderNewUser,
  }),
  recorded({ ...USER, route: "DELETE /auth/users/:auth_user_id", status: 204, does: "delete" }),
  recorded({
    ...USER,
    route: "PUT /auth/users/:auth_user_id/role",
    does: "update",
    body: z.object({ roles: z.array(z.string().min(1)).min(1) }),
    settings: (body) => body,
    answer: ({ record }) => ({ id: record.fields.key }) satisfies public_.UpdateNeonAuthUserRoleResponse,
  }),
];

export function renderNewUser({ record }: Shown<"authUser">) {
  return { id: record.fields.key } satisfies public_.NeonAuthCreateNewUserResponse;
}
