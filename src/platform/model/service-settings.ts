import type { SimTime } from "../../kernel/time.ts";

/** The authentication providers of the public document. */
type AuthProvider = "mock" | "stack" | "better_auth";

type MaskingRule = {
  readonly database_name: string;
  readonly schema_name: string;
  readonly table_name: string;
  readonly column_name: string;
  readonly masking_function?: string;
  readonly masking_value?: string;
};

/** An object of a bucket. Its bytes are stored like a secret: outside history. */
export type StoredObject = { readonly size: number; readonly etag: string; readonly content_type?: string };

/** A deployment of a function. Neither its code nor the values of its variables are stored. */
export type FunctionDeployment = {
  readonly id: number;
  readonly createdAt: SimTime;
  readonly runtime: string;
  readonly memory_mib: number;
  /** The names of its variables, sorted. */
  readonly environment: readonly string[];
};

export type FunctionSettings = {
  /** Absent: the slug is the name. */
  readonly name?: string;
  /** Oldest first. Those before the active one are not stored. */
  readonly deployments: readonly FunctionDeployment[];
};

export type TriggerSettings = {
  readonly function_slug: string;
  readonly name: string;
  readonly function_path: string;
  readonly enabled: boolean;
  readonly version: number;
} & (
  | { readonly type: "schedule"; readonly schedule: { readonly cron: string } }
  | {
      readonly type: "storage_object_created";
      readonly storage_object_created: { readonly bucket_name: string; readonly prefix?: string };
    }
);

/**
 * What callers store for the services of a branch, as in the public document. Nothing acts on it. Secrets are
 * not part of it (see `ServiceRecordFields`).
 */
export type ServiceSettings = {
  readonly auth: { readonly auth_provider: AuthProvider };
  readonly authApplication: { readonly name?: string };
  readonly authDomain: { readonly auth_provider: AuthProvider };
  readonly authOauthProvider: { readonly client_id?: string; readonly microsoft_tenant_id?: string };
  readonly authEmailAndPassword: {
    readonly enabled?: boolean;
    readonly email_verification_method?: "link" | "otp";
    readonly require_email_verification?: boolean;
    readonly auto_sign_in_after_verification?: boolean;
    readonly send_verification_email_on_sign_up?: boolean;
    readonly send_verification_email_on_sign_in?: boolean;
    readonly disable_sign_up?: boolean;
  };
  readonly authEmailProvider:
    | { readonly type?: "shared"; readonly sender_email?: string; readonly sender_name?: string }
    | {
        readonly type: "standard";
        readonly host: string;
        readonly port: number;
        readonly username: string;
        readonly sender_email: string;
        readonly sender_name: string;
      };
  readonly authLocalhost: { readonly allow_localhost?: boolean };
  readonly authOrganization: {
    readonly enabled?: boolean;
    readonly organization_limit?: number;
    readonly membership_limit?: number;
    readonly creator_role?: "admin" | "owner";
    readonly send_invitation_email?: boolean;
  };
  readonly authMagicLink: {
    readonly enabled?: boolean;
    readonly expires_in?: number;
    readonly disable_sign_up?: boolean;
  };
  readonly authPhoneNumber: { readonly enabled?: boolean; readonly otp_expires_in?: number };
  readonly authWebhook: {
    readonly enabled?: boolean;
    readonly webhook_url?: string;
    readonly enabled_events?: readonly string[];
    readonly timeout_seconds?: number;
  };
  readonly authUser: { readonly email: string; readonly name?: string; readonly roles?: readonly string[] };
  readonly dataApi: {
    readonly auth_provider?: "neon_auth" | "external";
    readonly jwks_url?: string;
    readonly provider_name?: string;
    readonly jwt_audience?: string;
    readonly add_default_grants?: boolean;
    readonly skip_auth_schema?: boolean;
    readonly settings?: Readonly<Record<string, unknown>>;
  };
  readonly bucket: { readonly access_level: "private" | "public_read" };
  readonly bucketObject: StoredObject;
  readonly function: FunctionSettings;
  readonly trigger: TriggerSettings;
  readonly customDomain: { readonly entity_type: "function"; readonly entity_id: string };
  readonly credential: {
    readonly name?: string;
    readonly scopes: readonly string[];
    readonly principal_type: "user";
  };
  readonly anonymization: {
    readonly masking_rules: readonly MaskingRule[];
    /** Number of rules when the anonymization was last started. */
    readonly masked_columns?: number;
  };
  /** S: the branch was created as archived. */
  readonly archived: Readonly<Record<string, never>>;
};
