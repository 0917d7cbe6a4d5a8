/** A command of the replication protocol that starts a copy in both directions. */
export class CopyBoth {
  private readonly text: string;
  private readonly take: (bytes: Buffer) => void;
  private readonly ended: (error: unknown) => void;

  constructor(text: string, take: (bytes: Buffer) => void, ended: (error: unknown) => void) {
    this.text = text;
    this.take = take;
    this.ended = ended;
  }

  submit(connection: { query(text: string): void }): null {
    connection.query(this.text);
    return null;
  }

  handleCopyData(message: { readonly chunk: Buffer }): void {
    this.take(message.chunk);
  }

  handleError(error: unknown): void {
    this.ended(error);
  }

  handleReadyForQuery(): void {
    this.ended(new Error("the server ended the stream"));
  }

  handleCommandComplete(): void {}

  handleRowDescription(): void {}

  handleDataRow(): void {}
}
