import { MAX } from "../../input-limits/limits.ts";
import { DecodeFailure, isOutOfRange, parseDateTime, quoted, within } from "./go-words.ts";
import { JsonReader } from "./json-reader.ts";
import { BODY_TYPES, PARAMETER_TYPES, REQUEST_TYPES } from "./request-types.ts";
import type { ParameterType, TypeName } from "./type-description.ts";

/*
 * D: the platform decodes requests with code that `ogen-go/ogen` generates from its API description: a published error has
 * that generator's words (`docs/evidence.md`). These functions fail as such code does. They only run for requests that
 * are refused anyway.
 */

/** The platform's message about a body that it cannot decode; `undefined` if it can, or if its type is unknown. */
export function bodyFailure(operationId: string, text: string): string | undefined {
  const body = BODY_TYPES[operationId];
  if (body === undefined || text.length > MAX.decodedBody) return undefined;
  if (text === "") return body.isRequired === true ? "body required" : undefined;
  return failureOf(() =>
    within("decode application/json", () => {
      const reader = new JsonReader(text);
      readValue(reader, body.type);
      reader.end();
    }),
  );
}

/** The platform's message about a body whose content type is not JSON. */
export function contentTypeFailure(
  operationId: string,
  text: string,
  contentType: string | undefined,
): string | undefined {
  const [mediaType = ""] = contentType?.split(";") ?? [];
  const name = mediaType.trim().toLowerCase();
  if (BODY_TYPES[operationId] === undefined || text === "" || !/^[\w.+-]+\/[\w.+-]+$/.test(name))
    return undefined;
  return name === "application/json" ? undefined : `unexpected Content-Type: ${name}`;
}

/** The platform's message about a query that does not decode. Parameters are read in the order of the document. */
export function queryFailure(operationId: string, query: URLSearchParams): string | undefined {
  return failureOf(() => {
    for (const [name, type] of Object.entries(PARAMETER_TYPES[operationId] ?? {}))
      within(`query: ${quoted(name)}`, () => readParameter(query.get(name), type));
  });
}

function failureOf(decode: () => void): string | undefined {
  try {
    decode();
    return undefined;
  } catch (error) {
    if (error instanceof DecodeFailure) return error.message;
    throw error;
  }
}

function readValue(reader: JsonReader, type: TypeName): void {
  if (type.endsWith("?")) {
    if (reader.isAtNull()) reader.null();
    else readValue(reader, type.slice(0, -1));
  } else if (type.endsWith("[]")) reader.list(() => readValue(reader, type.slice(0, -2)));
  else if (REQUEST_TYPES[type] !== undefined) readNamed(reader, type);
  else readSimple(reader, type);
}

function readNamed(reader: JsonReader, name: string): void {
  const { alias, values, fields = {}, required = [] } = REQUEST_TYPES[name] ?? {};
  if (alias !== undefined) {
    within("alias", () => readValue(reader, alias));
    return;
  }
  const seen = new Set<string>();
  within(`decode ${name}`, () =>
    reader.object((field) => {
      seen.add(field);
      const type = values ?? (Object.hasOwn(fields, field) ? fields[field] : undefined);
      if (type === undefined) reader.skip();
      else within(`decode field ${quoted(field)}`, () => readValue(reader, type));
    }),
  );
  const missing = required.filter((field) => !seen.has(field));
  if (missing.length > 0)
    throw new DecodeFailure(`invalid: ${missing.map((field) => `${field} (field required)`).join(", ")}`);
}

function readSimple(reader: JsonReader, type: TypeName): void {
  switch (type) {
    case "string":
      reader.string();
      return;
    case "date-time":
      parseDateTime(reader.string());
      return;
    case "int":
    case "int32":
    case "int64":
      reader.integer(type);
      return;
    case "number":
      reader.number();
      return;
    case "boolean":
      reader.boolean();
      return;
    default:
      reader.skip();
  }
}

/** The words of Go's `strconv` for texts that it cannot read as this type. */
function readParameter(
  text: string | null,
  { type, isRequired, minimum, maximum, values }: ParameterType,
): void {
  if (text === null) {
    if (isRequired === true) throw new DecodeFailure("field required");
    return;
  }
  if (type === "date-time") parseDateTime(text);
  if (type === "boolean" && !/^([tTfF10]|[tT]rue|[fF]alse|TRUE|FALSE)$/.test(text))
    throw new DecodeFailure(`strconv.ParseBool: parsing ${quoted(text)}: invalid syntax`);
  if (type.startsWith("int")) {
    const start = `strconv.${type === "int" ? "Atoi" : "ParseInt"}: parsing ${quoted(text)}`;
    if (!/^[+-]?\d+$/.test(text)) throw new DecodeFailure(`${start}: invalid syntax`);
    const digits = text.replace(/^\+/, "");
    if (isOutOfRange(type, digits)) throw new DecodeFailure(`${start}: value out of range`);
    if (minimum !== undefined && Number(digits) < minimum)
      throw new DecodeFailure(`int: value ${BigInt(digits)} less than ${minimum}`);
    if (maximum !== undefined && Number(digits) > maximum)
      throw new DecodeFailure(`int: value ${BigInt(digits)} greater than ${maximum}`);
  }
  if (values !== undefined && !values.includes(text)) throw new DecodeFailure(`invalid value: ${text}`);
}
