import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { throttled } from "./refresh.ts";
import { changes } from "./world.ts";

const WAIT_MS = 150;

/**
 * An answer of the server, read again after each change of the world and when `key` changes. `undefined`
 * while it is read for the first time, and after a failure.
 */
export function useReading<T>(key: string, read: () => Promise<T>): Signal<T | undefined> {
  const answer = useSignal<T | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    answer.value = undefined;
    const again = throttled(async () => {
      try {
        const value = await read();
        if (isCurrent) answer.value = value;
      } catch (error) {
        if (isCurrent) answer.value = undefined;
        throw error;
      }
    }, WAIT_MS);
    again();
    const stop = changes.subscribe(() => again());
    return () => {
      isCurrent = false;
      stop();
    };
  }, [key]);
  return answer;
}
