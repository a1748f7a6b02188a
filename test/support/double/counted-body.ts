/** A body of chunks that are made when they are read. */
export function countedBody(chunks: Iterable<string>) {
  const iterator = chunks[Symbol.iterator]();
  const counted = { reads: 0 };
  const stream = new ReadableStream(
    {
      pull(controller) {
        const { value, done } = iterator.next();
        counted.reads += 1;
        if (done) controller.close();
        else controller.enqueue(Buffer.from(value));
      },
    },
    { highWaterMark: 0 },
  );
  return { stream, counted };
}

export function* repeated(begin: string, middle: string, times: number, end: string): Iterable<string> {
  yield begin;
  for (let index = 0; index < times; index += 1) yield middle;
  yield end;
}
