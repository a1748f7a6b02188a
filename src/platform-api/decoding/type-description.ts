/**
 * The type of a value: `string`, `int`, `int32`, `int64`, `number`, `boolean`, `date-time`, `uri`, `any`, or the name of
 * an `ObjectType`. `[]` behind it makes a list of it, and `?` allows null.
 */
export type TypeName = string;

/** Description of a named type for the platform's decoder. */
export type ObjectType = {
  /** The name stands for a simple type. */
  readonly alias?: TypeName;
  /** The type of every value of an object with free names. */
  readonly values?: TypeName;
  readonly fields?: Readonly<Record<string, TypeName>>;
  readonly required?: readonly string[];
};

export type BodyType = { readonly type: TypeName; readonly isRequired?: boolean };

export type ParameterType = {
  readonly type: TypeName;
  readonly isRequired?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly values?: readonly string[];
};
