/** Texts of introspection: written between other requests, and kept. */
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { inPieces, membersOf, type Ask, type Caches } from "../../core/index.ts";
import type { GqlOutput } from "./operations.ts";

type Later = Extract<GqlOutput, { readonly pieces: unknown }>;

interface Source {
  readonly output: Later;
  readonly text: string | Buffer | undefined;
}

const ofSource = membersOf<Source>();
const OUTPUT = ofSource("output");
/** Written by the output alone, which is the key. */
const TEXT = ofSource("text", () => undefined);

/** Longer ones are kept deflated: of a thousand tables a twentieth of 38 MB. */
const MAX_PLAIN_CHARACTERS = 64 * 1024;

/** Not before the answer has gone out. */
const WHEN_SENT_MS = 100;
/** Others come between what takes long in one piece: to join tens of megabytes, to encode them. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** The outputs with their texts. @rule R-SC-13 */
export type Write = (outputs: readonly GqlOutput[]) => readonly GqlOutput[] | Promise<readonly GqlOutput[]>;

export const createWrite = (caches: Caches, name: string): Write => {
  const kept = caches.create({
    name,
    make: (ask: Ask<Source>) => {
      ask(OUTPUT);
      return ask(TEXT);
    },
    bytesOf: (text) => (typeof text === "string" ? text.length * 2 : (text?.length ?? 0)),
  });

  const textOf = async (output: Later): Promise<string> => {
    const { made } = kept.get({ output, text: undefined });
    if (typeof made === "string") return made;
    if (made !== undefined) return readInflated(await inflate(made));
    const text = await inPieces(output.pieces());
    await turn();
    if (text.length <= MAX_PLAIN_CHARACTERS) kept.get({ output, text }).keep();
    else setTimeout(() => void keepDeflated(output, text), WHEN_SENT_MS);
    return text;
  };

  const readInflated = async (bytes: Buffer): Promise<string> => {
    const text = bytes.toString();
    await turn();
    return text;
  };

  const keepDeflated = async (output: Later, text: string): Promise<void> => {
    try {
      const bytes = await deflate(Buffer.from(text), { level: 1 });
      kept.get({ output, text: bytes }).keep();
    } catch {
      // no memory for it: it is written anew
    }
  };

  return (outputs) =>
    outputs.some((output) => "pieces" in output)
      ? Promise.all(
          outputs.map(async (output) => ("pieces" in output ? { as: output.as, text: await textOf(output) } : output)),
        )
      : outputs;
};
