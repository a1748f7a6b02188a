import type { Context } from "hono";
import * as z from "zod";
import { failureFrom, jsonOf, parse, queryOf, Refused, readBody, respondFailure, type WorldOf } from "../../http/request.ts";
import type { Turn, WorldHandle, WorldsHandle } from "../../worlds/world-handle.ts";
import type { AskWhatIf } from "../routes/whatif.ts";
import { strict } from "./strict-fields.ts";

/** What the control API works with. */
export type ControlOptions = {
  readonly worlds: WorldsHandle;
  readonly worldOf: WorldOf;
  readonly version: string;
  /** What becomes of every operation of the public document. */
  readonly coverage: () => unknown;
  /** All of them. */
  readonly operationIds: readonly string[];
  readonly askWhatIf: AskWhatIf;
  readonly onBug: (error: unknown) => void;
};

type Parsed<Q extends z.ZodType, B extends z.ZodType> = {
  /** The world that the request is for. */
  readonly world: WorldHandle;
  readonly params: Record<string, string>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
};

const ANYTHING = z.unknown();
/** What takes none is not asked with a parameter that somebody believes in. */
const NO_PARAMETERS = strict({});

/** A handler that parses and answers in JSON; errors have the shape that the platform's have. */
export function handler<Q extends z.ZodType = typeof ANYTHING, B extends z.ZodType = typeof ANYTHING>(
  { worldOf, onBug }: Pick<ControlOptions, "worldOf" | "onBug">,
  schemas: { readonly query?: Q; readonly body?: B },
  answer: (request: Parsed<Q, B>, context: Context) => unknown,
): (context: Context) => Promise<Response> {
  return async (context) => {
    try {
      const world = worldOf(context);
      const query = parse(schemas.query ?? NO_PARAMETERS, queryOf(context), "query") as z.output<Q>;
      const body = (schemas.body === undefined ? undefined : parse(schemas.body, jsonOf(await readBody(context)))) as z.output<B>;
      const answered = await answer({ world, params: context.req.param(), query, body }, context);
      return answered instanceof Response ? answered : context.json(answered as object);
    } catch (error) {
      return respondFailure(context, failureFrom(error, onBug));
    }
  };
}

/** One turn of the world; a refusal in it is no bug of the world's, so it is carried around it. */
export async function turnOf<T>(world: WorldHandle, look: (turn: Turn) => T): Promise<T> {
  const looked = await world.turn((turn): { readonly value: T } | { readonly refused: Refused } => {
    try {
      return { value: look(turn) };
    } catch (error) {
      if (error instanceof Refused) return { refused: error };
      throw error;
    }
  });
  if ("refused" in looked) throw looked.refused;
  return looked.value;
}
