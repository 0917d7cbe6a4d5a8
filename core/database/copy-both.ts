/** A command of the replication protocol that starts a copy in both directions. */
export class CopyBoth {
  private readonly text: string;
  private readonly take: (bytes: Buffer) => void;
  private readonly onEnd: (error: unknown) => void;

  constructor(text: string, take: (bytes: Buffer) => void, onEnd: (error: unknown) => void) {
    this.text = text;
    this.take = take;
    this.onEnd = onEnd;
  }

  submit(connection: { query(text: string): void }): null {
    connection.query(this.text);
    return null;
  }

  handleCopyData(message: { readonly chunk: Buffer }): void {
    this.take(message.chunk);
  }

  handleError(error: unknown): void {
    this.onEnd(error);
  }

  handleReadyForQuery(): void {
    this.onEnd(new Error("the server ended the stream"));
  }

  handleCommandComplete(): void {}

  handleRowDescription(): void {}

  handleDataRow(): void {}
}
