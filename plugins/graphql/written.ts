/** Texts of introspection: written between other requests, and kept. */
import { promisify } from "node:util";
import { createGzip, gunzip } from "node:zlib";
import { inPieces, membersOf, type Ask, type Caches, type Pieces } from "../../core/index.ts";
import type { GqlOutput, PackedBody } from "./operations.ts";

type Later = Extract<GqlOutput, { readonly pieces: unknown }>;

interface Source {
  readonly output: Later;
  readonly text: string | Buffer | undefined;
}

const ofSource = membersOf<Source>();
const OUTPUT = ofSource("output");
/** Written by the output alone, which is the key. */
const TEXT = ofSource("text", () => undefined);

/** Longer ones are kept as compressed bodies of answers that have nothing else in them: of a thousand tables a
 *  twentieth of 38 MB, which most clients are sent as they are. */
const MAX_PLAIN_BYTES = 64 * 1024;

/** At least so much is compressed at a time, by another thread while more is written here. */
const BLOCK_BYTES = 256 * 1024;
/** Others come between what takes long in one piece: to encode tens of megabytes. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const inflate = promisify(gunzip);

export interface Write {
  /** The outputs with their texts. @rule R-SC-13 */
  texts(outputs: readonly GqlOutput[]): Promise<readonly GqlOutput[]>;
  /** The body of the answer that has nothing but this in it; undefined: it is short, or there is more. */
  body(outputs: readonly GqlOutput[]): Promise<PackedBody | undefined>;
}

const START = '{"data":{';
const END = "}}";
const startOf = (output: Later): string => `${START}${JSON.stringify(output.as)}:`;

const sizeOf = (parts: readonly Buffer[]): number => parts.reduce((sum, { length }) => sum + length, 0);

/** Copied part by part. */
const join = function* (parts: readonly Buffer[]): Pieces<Buffer> {
  const whole = Buffer.allocUnsafeSlow(sizeOf(parts));
  let at = 0;
  for (const part of parts) {
    at += part.copy(whole, at);
    yield;
  }
  return whole;
};

const joined = (parts: readonly Buffer[]): Buffer => (parts.length === 1 ? parts[0]! : Buffer.concat(parts));

/** `block`: takes them as they come. */
const inBlocks = function* (output: Later, block: (bytes: Buffer) => void): Pieces<void> {
  let parts: Buffer[] = [Buffer.from(startOf(output))];
  let bytes = 0;
  for (const part of output.pieces()) {
    yield;
    if (part === undefined) continue;
    parts.push(part);
    bytes += part.length;
    if (bytes < BLOCK_BYTES) continue;
    block(joined(parts));
    parts = [];
    bytes = 0;
  }
  block(Buffer.concat([...parts, Buffer.from(END)]));
};

interface Zip {
  write(bytes: Buffer): void;
  end(): Promise<Buffer>;
}

const createZip = (): Zip => {
  const zip = createGzip({ level: 1, chunkSize: BLOCK_BYTES });
  const parts: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve, reject) => {
    zip.on("data", (part: Buffer) => parts.push(part));
    zip.on("end", () => resolve(Buffer.concat(parts)));
    zip.on("error", reject);
  });
  return {
    write: (bytes) => void zip.write(bytes),
    end: () => {
      zip.end();
      return ended;
    },
  };
};

export const createWrite = (caches: Caches, name: string): Write => {
  const kept = caches.create({
    name,
    make: (ask: Ask<Source>) => {
      ask(OUTPUT);
      return ask(TEXT);
    },
    bytesOf: (text) => (typeof text === "string" ? text.length * 2 : (text?.length ?? 0)),
  });

  const written = async (output: Later): Promise<string | PackedBody> => {
    const { made } = kept.get({ output, text: undefined });
    if (typeof made === "string") return made;
    if (made !== undefined) return { plain: () => inflate(made), gzip: () => Promise.resolve(made) };
    const blocks: Buffer[] = [];
    let zip = undefined as Zip | undefined; // set by the callback
    await inPieces(
      inBlocks(output, (block) => {
        blocks.push(block);
        if (block.length > MAX_PLAIN_BYTES) zip ??= createZip(); // of several the first is
        zip?.write(block);
      }),
    );
    if (zip === undefined) {
      const text = readText(output, Buffer.concat(blocks)); // there is but one
      kept.get({ output, text }).keep();
      return text;
    }
    const zipped = zip.end().then((text) => {
      kept.get({ output, text }).keep();
      return text;
    });
    zipped.catch(() => undefined); // where no memory is left for it, it is written anew
    return { plain: () => inPieces(join(blocks)), gzip: () => zipped };
  };

  const readText = (output: Later, body: Buffer): string =>
    body.toString("utf8", Buffer.byteLength(startOf(output)), body.length - END.length);

  const textOf = async (output: Later): Promise<string> => {
    const found = await written(output);
    if (typeof found === "string") return found;
    const text = readText(output, await found.plain());
    await turn();
    return text;
  };

  return {
    texts: (outputs) =>
      Promise.all(
        outputs.map(async (output) => ("pieces" in output ? { as: output.as, text: await textOf(output) } : output)),
      ),
    body: async (outputs) => {
      const [only] = outputs;
      if (outputs.length > 1 || only === undefined || !("pieces" in only)) return undefined;
      const found = await written(only);
      return typeof found === "string" ? undefined : found;
    },
  };
};
