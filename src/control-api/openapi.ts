import * as z from "zod";
import { CONTROL_ANSWERS, type ControlRoute } from "./document/answers.ts";
import type { DocumentedHandler } from "./http/handler.ts";

/** A route as the server has registered it. */
export type DocumentedRoute = { readonly method: string; readonly path: string; readonly handler: unknown };

const errorAnswer = z.object({ request_id: z.string(), code: z.string(), message: z.string() });

/**
 * The OpenAPI document of the control API, from the schemas that parse its inputs. Yields after each route, whose schemas
 * take a millisecond.
 */
export function* controlDocument(
  routes: readonly DocumentedRoute[],
  version: string,
): Generator<undefined, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, handler } of routes) {
    const answer = CONTROL_ANSWERS[`${method} ${path}` as ControlRoute];
    if (answer === undefined) continue;
    const { query, body } = (handler as Partial<DocumentedHandler>).inputs ?? {};
    const { summary, content, status } = answer;
    const template = path.replaceAll(/:(\w+)/g, "{$1}");
    const parameters = [
      ...[...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
        ...{ name, in: "path", required: true },
        schema: { type: "string" },
      })),
      ...queryParameters(query),
    ];
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: {
        operationId: operationId(method, path),
        summary,
        ...(parameters.length === 0 ? {} : { parameters }),
        ...(body === undefined
          ? {}
          : {
              requestBody: {
                required: !body.safeParse(undefined).success,
                content: { "application/json": { schema: inputSchema(body) } },
              },
            }),
        responses: {
          [status]: {
            description: summary,
            content:
              typeof content === "string"
                ? { [content]: { schema: { type: "string" } } }
                : { "application/json": { schema: jsonSchema(content, "output") } },
          },
          default: { $ref: "#/components/responses/error" },
        },
      },
    };
    yield;
  }
  return {
    openapi: "3.1.0",
    info: { title: "Control API of standin", version },
    servers: [{ url: "/_sim" }, { url: "/w/{world}/_sim", variables: { world: { default: "default" } } }],
    security: [{}, { controlToken: [] }],
    paths,
    components: {
      securitySchemes: { controlToken: { type: "http", scheme: "bearer" } },
      responses: {
        error: {
          description: "The request was rejected, and changed nothing",
          content: { "application/json": { schema: jsonSchema(errorAnswer, "input") } },
        },
      },
    },
  };
}

function queryParameters(query: z.ZodType | undefined): object[] {
  const { properties = {}, required = [] } = query === undefined ? {} : inputSchema(query);
  return Object.entries(properties).map(([name, schema]) => ({
    ...{ name, in: "query", required: required.includes(name) },
    schema,
  }));
}

type JsonObjectSchema = {
  readonly properties?: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
};

function inputSchema(schema: z.ZodType): JsonObjectSchema {
  return jsonSchema(schema, "input") as JsonObjectSchema;
}

function jsonSchema(schema: z.ZodType, io: "input" | "output"): object {
  const { $schema, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** `POST /snapshots/:name/restore`: `post_snapshots_name_restore`. */
function operationId(method: string, path: string): string {
  return `${method.toLowerCase()}${path.replaceAll(/[/.:]+/g, "_")}`;
}
