/** A body that is read after the transaction of its request, because a transaction cannot wait. */
export class LaterBody {
  readonly read: () => Promise<object>;

  constructor(read: () => Promise<object>) {
    this.read = read;
  }
}
