import type * as public_ from "@neondatabase/api-client";
import * as z from "zod";
import { name } from "../http/request-fields.ts";
import { applicationName, renderOauthProvider } from "./auth-operations.ts";
import { recorded, type Shown } from "./recorded-operation.ts";

const flag = z.boolean().exactOptional();
const WEBHOOK_EVENTS = [
  "user.before_create",
  "user.created",
  "send.otp",
  "send.magic_link",
  "organization.invitation.created",
  "organization.invitation.accepted",
  "phone_number.verified",
] as const;

/** S: the configurations of a branch's auth. */
export const AUTH_CONFIGURATIONS = [
  recorded({
    route: "PATCH /auth/config",
    kind: "authApplication",
    does: "update",
    body: z.object({ name }),
    settings: (body) => body,
    answer: (shown) => ({ name: applicationName(shown) }) satisfies public_.NeonAuthConfigResponse,
  }),
  recorded({
    route: "GET /auth/email_and_password",
    kind: "authEmailAndPassword",
    does: "read",
    answer: renderEmailAndPassword,
  }),
  recorded({
    route: "PATCH /auth/email_and_password",
    kind: "authEmailAndPassword",
    does: "update",
    body: z.object({
      enabled: flag,
      email_verification_method: z.enum(["link", "otp"]).exactOptional(),
      require_email_verification: flag,
      auto_sign_in_after_verification: flag,
      send_verification_email_on_sign_up: flag,
      send_verification_email_on_sign_in: flag,
      disable_sign_up: flag,
    }),
    settings: (body) => body,
    answer: renderEmailAndPassword,
  }),
  recorded({
    route: "GET /auth/email_provider",
    kind: "authEmailProvider",
    does: "read",
    answer: renderEmailProvider,
  }),
  recorded({
    route: "PATCH /auth/email_provider",
    kind: "authEmailProvider",
    does: "replace",
    body: z.discriminatedUnion("type", [
      z.object({
        type: z.literal("standard"),
        host: z.string(),
        port: z.int(),
        username: z.string(),
        password: z.string(),
        sender_email: z.string(),
        sender_name: z.string(),
      }),
      z.object({
        type: z.literal("shared"),
        sender_email: z.string().exactOptional(),
        sender_name: z.string().exactOptional(),
      }),
    ]),
    settings: (body) => {
      if (body.type === "shared") return body;
      const { password: _, ...settings } = body;
      return settings;
    },
    secret: (body) => (body.type === "standard" ? body.password : undefined),
    answer: renderEmailProvider,
  }),
  recorded({
    route: "GET /auth/allow_localhost",
    kind: "authLocalhost",
    does: "read",
    answer: renderLocalhost,
  }),
  recorded({
    route: "PATCH /auth/allow_localhost",
    kind: "authLocalhost",
    does: "update",
    body: z.object({ allow_localhost: z.boolean() }),
    settings: (body) => body,
    answer: renderLocalhost,
  }),
  recorded({ route: "GET /auth/plugins", kind: "auth", does: "read", answer: renderPlugins }),
  recorded({
    route: "PATCH /auth/plugins/organization",
    kind: "authOrganization",
    does: "update",
    body: z.object({
      enabled: flag,
      organization_limit: z.int32().min(1).exactOptional(),
      membership_limit: z.int32().min(1).exactOptional(),
      creator_role: z.enum(["admin", "owner"]).exactOptional(),
      send_invitation_email: flag,
    }),
    settings: (body) => body,
    answer: renderOrganization,
  }),
  recorded({
    route: "PATCH /auth/plugins/magic-link",
    kind: "authMagicLink",
    does: "update",
    body: z.object({
      enabled: flag,
      expires_in: z.int().min(5).max(1440).exactOptional(),
      disable_sign_up: flag,
    }),
    settings: (body) => body,
    answer: renderMagicLink,
  }),
  recorded({
    route: "GET /auth/plugins/phone-number",
    kind: "authPhoneNumber",
    does: "read",
    answer: renderPhoneNumber,
  }),
  recorded({
    route: "PATCH /auth/plugins/phone-number",
    kind: "authPhoneNumber",
    does: "update",
    body: z.object({ enabled: flag, otp_expires_in: z.int().min(60).max(600).exactOptional() }),
    settings: (body) => body,
    answer: renderPhoneNumber,
  }),
  recorded({ route: "GET /auth/webhooks", kind: "authWebhook", does: "read", answer: renderWebhook }),
  recorded({
    route: "PUT /auth/webhooks",
    kind: "authWebhook",
    does: "replace",
    body: z.object({
      enabled: z.boolean(),
      webhook_url: z.string().exactOptional(),
      enabled_events: z.array(z.enum(WEBHOOK_EVENTS)).exactOptional(),
      timeout_seconds: z.int().min(1).max(10).exactOptional(),
    }),
    settings: (body) => body,
    answer: renderWebhook,
  }),
];

function renderEmailAndPassword({ settings }: Shown<"authEmailAndPassword">) {
  return settings as public_.NeonAuthEmailAndPasswordConfig;
}

function renderEmailProvider({ settings, secret }: Shown<"authEmailProvider">) {
  return {
    ...settings,
    ...(secret === undefined ? {} : { password: secret }),
  } as public_.NeonAuthEmailServerConfig;
}

function renderLocalhost({ settings }: Shown<"authLocalhost">) {
  return settings satisfies public_.NeonAuthAllowLocalhostResponse;
}

function renderOrganization({ settings }: Shown<"authOrganization">) {
  return settings as public_.NeonAuthOrganizationConfig;
}

function renderMagicLink({ settings }: Shown<"authMagicLink">) {
  return settings satisfies public_.NeonAuthMagicLinkConfig;
}

function renderPhoneNumber({ settings }: Shown<"authPhoneNumber">) {
  return settings satisfies public_.NeonAuthPhoneNumberConfig;
}

function renderWebhook({ settings }: Shown<"authWebhook">) {
  return settings as public_.NeonAuthWebhookConfig;
}

function renderPlugins({ list, configuration }: Shown<"auth">) {
  return {
    organization: renderOrganization(configuration("authOrganization")),
    magic_link: renderMagicLink(configuration("authMagicLink")),
    phone_number: renderPhoneNumber(configuration("authPhoneNumber")),
    email_provider: renderEmailProvider(configuration("authEmailProvider")),
    email_and_password: renderEmailAndPassword(configuration("authEmailAndPassword")),
    oauth_providers: list("authOauthProvider").map(renderOauthProvider),
    allow_localhost: renderLocalhost(configuration("authLocalhost")).allow_localhost,
  } satisfies public_.NeonAuthPluginConfigs;
}
