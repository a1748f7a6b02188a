import * as z from "zod";
import { pageOf, pageQuery } from "./record-page.ts";
import { recorded, type Shown } from "./recorded-operation.ts";

const LIST = "custom-domains";
const MAX_DOMAIN = 254; // C
const DOMAIN_RULE = "must be a domain such as docs.example.com";

/** C: lowercase, without the dot of the root. */
const domain = z
  .string()
  .max(MAX_DOMAIN)
  .transform((text) => text.toLowerCase().replace(/\.$/, ""))
  .pipe(z.string().regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/, DOMAIN_RULE));

/** C: custom domains of functions, in newer clients. A: no region has a front door for them, so none gets active. */
export const CUSTOM_DOMAIN_OPERATIONS = [
  recorded({
    route: "GET /custom-domains",
    kind: "customDomain",
    does: "list",
    query: pageQuery(LIST),
    answer: (domains, query) => {
      const { items, ...page } = pageOf(LIST, domains, query);
      return { custom_domains: items.map(renderDomain), ...page };
    },
  }),
  recorded({
    route: "POST /custom-domains",
    status: 201,
    kind: "customDomain",
    does: "create",
    body: z.object({
      domain,
      entity_type: z.literal("function", 'must be "function" (invalid_entity_type)'),
      entity_id: z.string(),
    }),
    keys: ({ body }) => [body.domain],
    settings: ({ entity_type, entity_id }) => ({ entity_type, entity_id }),
    answer: renderDomain,
  }),
  recorded({
    route: "DELETE /custom-domains/:domain",
    status: 204,
    kind: "customDomain",
    does: "delete",
    params: { domain },
    keys: ({ params }) => [params["domain"] ?? ""],
  }),
];

/** C: without a front door, there is nothing that a CNAME could point to. */
function renderDomain({ record, settings }: Shown<"customDomain">) {
  return {
    domain: record.fields.key,
    entity_type: settings.entity_type,
    entity_id: settings.entity_id,
    cname_target: "",
    status: "pending",
    dns_status: "pending",
    binding_status: "pending",
    status_reason: "",
  };
}
