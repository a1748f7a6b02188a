import { parse as parseArray } from "postgres-array";

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

const BOOL = 16;
const INT2 = 21;
const INT4 = 23;
const JSON_TYPE = 114;
const FLOAT4 = 700;
const FLOAT8 = 701;
const JSONB = 3802;

/** Types of the elements of Postgres's own arrays, by type. Arrays of other types stay text. */
const ELEMENT_TYPES = new Map([
  [199, JSON_TYPE],
  [1000, BOOL],
  [1001, 17],
  [1002, 18],
  [1003, 19],
  [1005, INT2],
  [1007, INT4],
  [1009, 25],
  [1014, 1042],
  [1015, 1043],
  [1016, 20],
  [1021, FLOAT4],
  [1022, FLOAT8],
  [1028, 26],
  [1041, 869],
  [1115, 1114],
  [1182, 1082],
  [1183, 1083],
  [1185, 1184],
  [1187, 1186],
  [1231, 1700],
  [2951, 2950],
  [3807, JSONB],
]);

/** The text of a parameter, as Postgres reads it; `null`: NULL. */
export function parameterText(value: Json): string | null {
  if (value === null) return null;
  if (typeof value === "string") return value;
  return Array.isArray(value) ? arrayText(value) : JSON.stringify(value);
}

function arrayText(values: readonly Json[]): string {
  const elements = values.map((value) => {
    if (value === null) return "NULL";
    if (Array.isArray(value)) return arrayText(value);
    // JSON and arrays quote strings in the same way. An object is a string that contains JSON.
    return JSON.stringify(typeof value === "object" ? JSON.stringify(value) : value);
  });
  return `{${elements.join(",")}}`;
}

/** The value of a column as JSON: what JSON cannot represent without loss is a string. */
export function jsonValue(text: string, type: number): Json {
  const elementType = ELEMENT_TYPES.get(type);
  if (elementType !== undefined) return parseArray(text, (element) => jsonValue(element, elementType));
  switch (type) {
    case BOOL:
      return text === "t";
    case INT2:
    case INT4:
      return Number(text);
    case FLOAT4:
    case FLOAT8: {
      const number = Number(text);
      return Number.isFinite(number) ? number : text;
    }
    case JSON_TYPE:
    case JSONB:
      return JSON.parse(text);
    default:
      return text;
  }
}
