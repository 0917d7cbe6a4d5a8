/** Caches texts of introspection. Each text is written once, in time slices. @rule R-SC-13 */
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { runSliced, defineCacheQuestion, type Ask, type CacheManager, type Slices } from "../../../core/index.ts";
import type { GqlOutput, PackedBody } from "../operations.ts";

type SlicedOutput = Extract<GqlOutput, { readonly pieces: unknown }>;

interface WrittenOutput {
  readonly output: SlicedOutput;
  readonly text: string | Buffer | undefined;
}

const OUTPUT = defineCacheQuestion("output", ({ output }: WrittenOutput) => output);
/** The cache question of a text. The text depends only on the output, which is the key. */
const TEXT = defineCacheQuestion(
  "text",
  ({ text }: WrittenOutput) => text,
  () => undefined,
);

/** The maximum size of a text that is cached as text. A longer one is cached as a compressed response body, which most
 *  clients get unchanged. The text of a thousand tables has 38 MB, its compressed body 2 MB. */
const MAX_PLAIN_BYTES = 64 * 1024;

const zip = promisify(gzip);
const unzip = promisify(gunzip);

interface IntrospectionWriter {
  /** Returns the outputs with their texts. */
  writeTexts(outputs: readonly GqlOutput[]): Promise<readonly GqlOutput[]>;
  /** Returns the body of a response that contains only this output. The body is undefined if the text is short or there
   *  are other outputs. */
  writeBody(outputs: readonly GqlOutput[]): Promise<PackedBody | undefined>;
}

const buildBodyStart = (output: SlicedOutput): Buffer => Buffer.from(`{"data":{${JSON.stringify(output.as)}:`);
const END = Buffer.from("}}");

const buildBody = function* (output: SlicedOutput): Slices<Buffer> {
  const parts = [buildBodyStart(output)];
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

const extractText = (body: Buffer, output: SlicedOutput): string =>
  body.toString("utf8", buildBodyStart(output).length, body.length - END.length);

/** Creates a writer of introspection results that caches its texts. */
export const createIntrospectionWriter = (caches: CacheManager, name: string): IntrospectionWriter => {
  const storedBodies = caches.create({
    name,
    make: (ask: Ask<WrittenOutput>) => {
      ask(OUTPUT);
      return ask(TEXT);
    },
    estimateBytes: (text) => (typeof text === "string" ? text.length * 2 : (text?.length ?? 0)),
  });

  /** Returns the text, or a compressed body that contains it. */
  const getStoredBody = async (output: SlicedOutput): Promise<string | Buffer> => {
    const { value: storedBody } = storedBodies.get({ output, text: undefined });
    if (storedBody !== undefined) return storedBody;
    const body = await runSliced(buildBody(output));
    const text = body.length > MAX_PLAIN_BYTES ? await zip(body, { level: 1 }) : extractText(body, output);
    storedBodies.get({ output, text }).commit();
    return text;
  };

  const getText = async (output: SlicedOutput): Promise<string> => {
    const storedBody = await getStoredBody(output);
    return typeof storedBody === "string" ? storedBody : extractText(await unzip(storedBody), output);
  };

  return {
    writeTexts: (outputs) =>
      Promise.all(
        outputs.map(async (output) => ("pieces" in output ? { as: output.as, text: await getText(output) } : output)),
      ),
    writeBody: async (outputs) => {
      const [output] = outputs;
      if (outputs.length > 1 || output === undefined || !("pieces" in output)) return undefined;
      const storedBody = await getStoredBody(output);
      return typeof storedBody === "string"
        ? undefined
        : { plain: () => unzip(storedBody), gzip: () => Promise.resolve(storedBody) };
    },
  };
};
