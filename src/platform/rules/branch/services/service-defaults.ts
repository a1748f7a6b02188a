import type { ConfigurationKind } from "../../../model/service-record.ts";
import type { ServiceSettings } from "../../../model/service-settings.ts";

type Defaults<K extends ConfigurationKind> = Omit<Required<ServiceSettings[K]>, "webhook_url" | "name">;

/** The settings of configurations that were never updated. S: of the plugins and the webhook. A: of the others. */
export const SERVICE_DEFAULTS: {
  readonly [K in Exclude<ConfigurationKind, "authEmailProvider">]: Defaults<K>;
} & {
  readonly authEmailProvider: { readonly type: "shared" };
} = {
  authApplication: {},
  authEmailAndPassword: {
    enabled: true,
    email_verification_method: "otp",
    require_email_verification: false,
    auto_sign_in_after_verification: true,
    send_verification_email_on_sign_up: false,
    send_verification_email_on_sign_in: false,
    disable_sign_up: false,
  },
  authEmailProvider: { type: "shared" },
  authLocalhost: { allow_localhost: true },
  authOrganization: {
    enabled: true,
    organization_limit: 10,
    membership_limit: 100,
    creator_role: "owner",
    send_invitation_email: false,
  },
  authMagicLink: { enabled: false, expires_in: 5, disable_sign_up: false },
  authPhoneNumber: { enabled: false, otp_expires_in: 300 },
  authWebhook: { enabled: false, enabled_events: [], timeout_seconds: 5 },
};
