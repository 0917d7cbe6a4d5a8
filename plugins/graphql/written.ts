/** Texts of introspection: written between other requests, and kept. */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
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

/** Not before the answer has gone out. */
const WHEN_SENT_MS = 100;
/** Others come between what takes long in one piece: to encode tens of megabytes. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const compress = promisify(gzip);
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

/** Copied part by part, which are tens of thousands. */
const join = function* (parts: readonly Buffer[]): Pieces<Buffer> {
  const whole = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    at += part.copy(whole, at);
    yield;
  }
  return whole;
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
    const parts = await inPieces(output.pieces());
    const body = await inPieces(join([Buffer.from(startOf(output)), ...parts, Buffer.from(END)]));
    if (body.length > MAX_PLAIN_BYTES) return packed(output, body);
    const text = readText(output, body);
    kept.get({ output, text }).keep();
    return text;
  };

  const packed = (output: Later, body: Buffer): PackedBody => {
    let small: Promise<Buffer> | undefined;
    const zipped = async (): Promise<Buffer> => {
      const bytes = await compress(body, { level: 1 });
      kept.get({ output, text: bytes }).keep();
      return bytes;
    };
    const gzipped = (): Promise<Buffer> => (small ??= zipped());
    // where no memory is left for it, it is written anew
    setTimeout(() => void gzipped().catch(() => undefined), WHEN_SENT_MS);
    return { plain: () => Promise.resolve(body), gzip: gzipped };
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
