/**
 * Whether a request with this path, below the base URL and with or without a query, is one to the path of the
 * template. Parameters of templates are `{name}` or `:name`.
 */
export type IsPathOf<Template extends string, Path extends string> = SegmentsMatch<
  Template,
  WithoutQuery<Path>
>;

type WithoutQuery<Path extends string> = Path extends `${infer Below}?${string}` ? Below : Path;

type SegmentsMatch<Template extends string, Path extends string> = Template extends `${infer T}/${infer Ts}`
  ? Path extends `${infer P}/${infer Ps}`
    ? SegmentMatches<T, P> extends true
      ? SegmentsMatch<Ts, Ps>
      : false
    : false
  : Path extends `${string}/${string}`
    ? false
    : SegmentMatches<Template, Path>;

type SegmentMatches<Template extends string, Segment extends string> = Template extends
  | `{${string}}`
  | `:${string}`
  ? true
  : Segment extends Template
    ? true
    : false;
