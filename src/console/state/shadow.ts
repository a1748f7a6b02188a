import { signal } from "@preact/signals";
import { get } from "../client/request.ts";
import type { Agreement, Shadow } from "../client/types.ts";

/** How well the rules agree with the account whose past this world has; `undefined` for any other world. */
export const agreement = signal<Agreement | undefined>(undefined);

/** Only `standin shadow` changes it, and no server may run in the meantime: it is read when a server has been reached. */
export async function readShadow(): Promise<void> {
  agreement.value = (await get<Shadow>("/shadow")).agreement ?? undefined;
}
