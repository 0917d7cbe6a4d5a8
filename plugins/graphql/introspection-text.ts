/** Caches texts of introspection. Each is written once, in time slices. @rule R-SC-13 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { runSliced, membersOf, type Ask, type Caches, type Slices } from "../../core/index.ts";
import type { GqlOutput, PackedBody } from "./operations.ts";

type SlicedOutput = Extract<GqlOutput, { readonly pieces: unknown }>;

interface Source {
  readonly output: SlicedOutput;
  readonly text: string | Buffer | undefined;
}

const ofSource = membersOf<Source>();
const OUTPUT = ofSource("output");
/** The text depends only on the output, which is the key. */
const TEXT = ofSource("text", () => undefined);

/** A longer text is cached as the compressed body of a response that contains nothing else. Most clients get this body
 *  unchanged. The text of a thousand tables has 38 MB, its compressed body 2 MB. */
const MAX_PLAIN_BYTES = 64 * 1024;

const zip = promisify(gzip);
const unzip = promisify(gunzip);

export interface Write {
  /** Returns the outputs with their texts. */
  texts(outputs: readonly GqlOutput[]): Promise<readonly GqlOutput[]>;
  /** Returns the body of a response that contains only this output. Undefined if the text is short or there are other
   *  outputs. */
  body(outputs: readonly GqlOutput[]): Promise<PackedBody | undefined>;
}

const startOf = (output: SlicedOutput): Buffer => Buffer.from(`{"data":{${JSON.stringify(output.as)}:`);
const END = Buffer.from("}}");

const bodyOf = function* (output: SlicedOutput): Slices<Buffer> {
  const parts = [startOf(output)];
  for (const part of output.pieces()) {
    if (part !== undefined) parts.push(part);
    yield;
  }
  parts.push(END);
  const body = Buffer.allocUnsafeSlow(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    at += part.copy(body, at);
    yield;
  }
  return body;
};

const textIn = (body: Buffer, output: SlicedOutput): string =>
  body.toString("utf8", startOf(output).length, body.length - END.length);

export const createWrite = (caches: Caches, name: string): Write => {
  const kept = caches.create({
    name,
    make: (ask: Ask<Source>) => {
      ask(OUTPUT);
      return ask(TEXT);
    },
    bytesOf: (text) => (typeof text === "string" ? text.length * 2 : (text?.length ?? 0)),
  });

  /** Returns the text, or a compressed body that contains it. */
  const writtenBody = async (output: SlicedOutput): Promise<string | Buffer> => {
    const { value: made } = kept.get({ output, text: undefined });
    if (made !== undefined) return made;
    const body = await runSliced(bodyOf(output));
    const text = body.length > MAX_PLAIN_BYTES ? await zip(body, { level: 1 }) : textIn(body, output);
    kept.get({ output, text }).commit();
    return text;
  };

  const textOf = async (output: SlicedOutput): Promise<string> => {
    const found = await writtenBody(output);
    return typeof found === "string" ? found : textIn(await unzip(found), output);
  };

  return {
    texts: (outputs) =>
      Promise.all(
        outputs.map(async (output) => ("pieces" in output ? { as: output.as, text: await textOf(output) } : output)),
      ),
    body: async (outputs) => {
      const [only] = outputs;
      if (outputs.length > 1 || only === undefined || !("pieces" in only)) return undefined;
      const found = await writtenBody(only);
      return typeof found === "string" ? undefined : { plain: () => unzip(found), gzip: () => Promise.resolve(found) };
    },
  };
};
