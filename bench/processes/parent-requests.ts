export type ParentRequest = { readonly id: number; readonly method: string; readonly input: unknown };
export type ChildResponse =
  | { readonly id: number; readonly output: unknown }
  | { readonly id: number; readonly error: string };

/** Handles requests of the parent process, and exits with it. */
export function handleParentRequests(handlers: Readonly<Record<string, (input: any) => unknown>>): void {
  process.on("message", async ({ id, method, input }: ParentRequest) => {
    const respond = (message: ChildResponse) => process.send?.(message);
    try {
      respond({ id, output: await handlers[method]?.(input) });
    } catch (error) {
      respond({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
}
