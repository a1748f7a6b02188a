import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Ajv, type AnySchemaObject, type ValidateFunction } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import formats from "ajv-formats";
import { parse } from "yaml";

type Schema = AnySchemaObject;
type Media = { readonly schema: Schema };
type Content = {
  readonly content?: { readonly "application/json"?: Media; readonly "application/octet-stream"?: Media };
};
type DocumentedResponse = Content | { readonly $ref: string };
type PathItem = Partial<Record<(typeof METHODS)[number], DescribedOperation>>;
type DescribedOperation = {
  readonly operationId: string;
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
};
type OpenApiDocument = {
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Content>>;
  };
};

const METHODS = ["get", "post", "put", "patch", "delete"] as const;
const ID = "public";

export type DocumentedOperation = {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
};

/** Validates requests and answers against the public OpenAPI document. */
export type PublicDocument = {
  readonly operations: readonly DocumentedOperation[];
  operation(operationId: string): DocumentedOperation;
  /**
   * Faults of an answer; empty if it fits the document and the document declares all its properties. Undeclared
   * properties are listed only if there is no other fault.
   */
  answerFaults(operationId: string, status: number, body: unknown): string[];
  /** Faults of a request body; empty if it fits the document. */
  requestFaults(operationId: string, body: unknown): string[];
  /** The names of the object schemas in the successful answer of an operation, its own first. */
  schemasOf(operationId: string): readonly string[];
  /** A copy of the document in which one of those schemas requires an unknown property. */
  requiringMore(schema: string): PublicDocument;
};

/**
 * Properties that the reference describes but the document no longer declares, by operation. They are allowed
 * undeclared. Reference, "Project (as returned by the project list)": `locked`. The list of shared projects
 * has the same items.
 */
const LOCKED = /^\/projects\/\d+\/locked$/;
const EXTRAS: Readonly<Record<string, RegExp>> = { listProjects: LOCKED, listSharedProjects: LOCKED };

/**
 * Paths of project fields in profile 2024 that were recorded in that year and declared by the document of December
 * 2024.
 */
const DECLARED_IN_2024 = /^\/projects?(?:\/\d+)?\/settings\/allowed_ips\/primary_branch_only$/;

export function loadPublicDocument(): PublicDocument {
  const packageFile = createRequire(import.meta.url).resolve("@neondatabase/api-client/package.json");
  const document = parse(
    readFileSync(join(dirname(packageFile), "public-v2-for-users.gen.yaml"), "utf8"),
  ) as OpenApiDocument;
  const operations: DocumentedOperation[] = [];
  const messages: Record<string, Schema> = {};
  for (const [path, item] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const described = item[method];
      if (described === undefined) continue;
      const { operationId } = described;
      operations.push({ operationId, method: method.toUpperCase(), path });
      for (const [status, response] of Object.entries(described.responses)) {
        messages[`${operationId}.${status}`] =
          schemaOf("$ref" in response ? referenced(document, response.$ref) : response) ?? EMPTY;
      }
      messages[`${operationId}.request`] = schemaOf(described.requestBody) ?? EMPTY;
    }
  }
  return documentWith(operations, {
    ...mapValues(document.components.schemas, withDiscriminator),
    ...messages,
  });
}

/** JSON Schema does not know `discriminator`: each alternative requires its value of the property. */
function withDiscriminator(schema: Schema): Schema {
  const { discriminator, ...rest } = schema;
  if (discriminator === undefined) return schema;
  const { propertyName, mapping } = discriminator as {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
  const oneOf = Object.entries(mapping).map(([value, $ref]) => ({
    allOf: [{ $ref }, { required: [propertyName], properties: { [propertyName]: { const: value } } }],
  }));
  return { ...rest, oneOf };
}

/** `schemas` holds the components, and the messages as `<operation>.<status>` and `<operation>.request`. */
function documentWith(
  operations: readonly DocumentedOperation[],
  schemas: Readonly<Record<string, Schema>>,
): PublicDocument {
  // The document is known to consist of valid schemas.
  const options = { strict: false, inlineRefs: false, allErrors: true, validateSchema: false };
  const open = register(new Ajv(options), schemas);
  let closed: Ajv2019 | undefined;

  const faults = (message: string, body: unknown, isExtra: (place: string) => boolean): string[] => {
    const errors = validationErrors(validatorOf(open, message), body);
    if (errors.length > 0) return errors;
    closed ??= register(new Ajv2019(options), closedCopy(schemas));
    return undeclaredProperties(validatorOf(closed, message), body).filter((place) => !isExtra(place));
  };
  return {
    operations,
    operation(operationId) {
      const operation = operations.find((candidate) => candidate.operationId === operationId);
      if (operation === undefined) throw new Error(`the document has no ${operationId}`);
      return operation;
    },
    answerFaults(operationId, status, body) {
      const success = `${operationId}.${status}`;
      if (schemas[success] === EMPTY && status < 400) return body === "" ? [] : ["the body must be empty"];
      if (success in schemas)
        return faults(
          success,
          body,
          (place) => DECLARED_IN_2024.test(place) || (EXTRAS[operationId]?.test(place) ?? false),
        );
      if (status < 400) return [`${operationId} does not answer ${status} in the document`];
      return [...faults(`${operationId}.default`, body, () => false), ...emptyErrorFields(body)];
    },
    requestFaults: (operationId, body) => faults(`${operationId}.request`, body, () => false),
    schemasOf(operationId) {
      const successes = Object.keys(schemas).filter((name) => name.startsWith(`${operationId}.2`));
      return reachableSchemas(schemas, successes).filter((name) => isObject(schemas[name]));
    },
    requiringMore: (name) =>
      documentWith(operations, { ...schemas, [name]: withExtraProperty(schemas[name] ?? EMPTY) }),
  };
}

/** These schemas and all that they refer to. */
function reachableSchemas(schemas: Readonly<Record<string, Schema>>, names: readonly string[]): string[] {
  const reachable = new Set(names);
  for (const name of reachable) {
    for (const [, referred = ""] of JSON.stringify(schemas[name]).matchAll(
      /"#\/components\/schemas\/(\w+)"/g,
    ))
      reachable.add(referred);
  }
  return [...reachable];
}

function isObject(schema: Schema = EMPTY): boolean {
  const { type, $ref, properties, allOf } = schema;
  return (
    type === "object" ||
    (type === undefined && ($ref ?? properties ?? allOf) !== undefined && !("enum" in schema))
  );
}

function withExtraProperty(schema: Schema): Schema {
  const required = "of_a_newer_document";
  return {
    ...schema,
    properties: { ...schema["properties"], [required]: {} },
    required: [...(schema["required"] ?? []), required],
  };
}

/** A file, whose bytes are read as text. */
const BYTES: Schema = { type: "string" };

/** No content. */
const EMPTY: Schema = { not: {} };

function schemaOf(described: Content | undefined): Schema | undefined {
  const { content } = described ?? {};
  return content?.["application/octet-stream"] === undefined ? content?.["application/json"]?.schema : BYTES;
}

function referenced(document: OpenApiDocument, ref: string): Content {
  const response = document.components.responses[ref.replace("#/components/responses/", "")];
  if (response === undefined) throw new Error(`the document has no ${ref}`);
  return response;
}

/** Only the components. They include the messages, so that references resolve. */
function register<A extends Ajv | Ajv2019>(ajv: A, schemas: Readonly<Record<string, Schema>>): A {
  formats.default(ajv);
  ajv.addFormat("uint64", {
    type: "number",
    validate: (value: number) => Number.isInteger(value) && value >= 0,
  });
  ajv.addFormat("int", { type: "number", validate: Number.isInteger });
  ajv.addSchema({ $id: ID, components: { schemas } });
  return ajv;
}

function validatorOf(ajv: Ajv | Ajv2019, message: string): ValidateFunction {
  const validate = ajv.getSchema(`${ID}#/components/schemas/${message}`);
  if (validate === undefined) throw new Error(`the document has no ${message}`);
  return validate;
}

function validationErrors(validate: ValidateFunction, body: unknown): string[] {
  if (validate(body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message }) => `${instancePath || "the body"} ${message}`,
  );
}

function undeclaredProperties(validate: ValidateFunction, body: unknown): string[] {
  if (validate(body)) return [];
  return (validate.errors ?? []).flatMap(({ keyword, instancePath, params }) =>
    keyword === "unevaluatedProperties" ? [`${instancePath}/${params["unevaluatedProperty"]}`] : [],
  );
}

/** Stricter than the document's GeneralError: `request_id` must be present. Only `code` may be empty. */
function emptyErrorFields(body: unknown): string[] {
  const fields = body as Record<string, unknown>;
  return ["request_id", "code", "message"].flatMap((field) =>
    typeof fields[field] === "string" && (fields[field] !== "" || field === "code")
      ? []
      : [`/${field} must be a non-empty string`],
  );
}

/**
 * Copies the schemas and forbids undeclared properties. A component stays open at its top level, because others are
 * composed of it. Each place that holds a whole value is closed.
 */
function closedCopy(schemas: Readonly<Record<string, Schema>>): Record<string, Schema> {
  return mapValues(schemas, (schema, name) => (name.includes(".") ? closeAt(schema) : closeWithin(schema)));
}

function closeAt(schema: Schema): Schema {
  return { ...closeWithin(schema), unevaluatedProperties: false };
}

function closeWithin(schema: Schema): Schema {
  const { properties, items, additionalProperties, allOf, oneOf, anyOf } = schema;
  const composed = allOf ?? oneOf ?? anyOf;
  const parts = (list: readonly Schema[]) => list.map(closeWithin);
  return {
    ...schema,
    // An object without declared properties may have any.
    ...(schema["type"] === "object" && !properties && !additionalProperties && !composed
      ? { additionalProperties: true }
      : {}),
    ...(properties === undefined ? {} : { properties: mapValues(properties, closeAt) }),
    ...(items === undefined ? {} : { items: closeAt(items) }),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: closeAt(additionalProperties) }
      : {}),
    ...(allOf === undefined ? {} : { allOf: parts(allOf) }),
    ...(oneOf === undefined ? {} : { oneOf: parts(oneOf) }),
    ...(anyOf === undefined ? {} : { anyOf: parts(anyOf) }),
  };
}

function mapValues(
  values: Readonly<Record<string, Schema>>,
  change: (value: Schema, name: string) => Schema,
): Record<string, Schema> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value, name)]));
}
