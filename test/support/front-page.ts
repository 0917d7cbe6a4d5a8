/** Reads the front page: its tables, requests and the facts of its live demo. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "vitest";
import { BROWSER, startApi, type Answer, type StartOptions, type TestApi } from "./api.ts";

export const start = (options: StartOptions = {}): Promise<TestApi> =>
  startApi({ compatMode: false, dbSchemas: ["public"], anonRole: "music_reader", ...options });

export const fetchPage = async (api: TestApi, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
  const answer = await api.get("/", { headers: { ...BROWSER, ...headers } });
  expect(answer.status, answer.text).toBe(200);
  return answer;
};

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

/** Text of markup, as a browser shows it. */
export const extractText = (markup: string): string =>
  // The pattern matches only names of ENTITIES.
  markup.replace(/<[^>]*>/g, "").replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name]!);

/** The tags of the page's body by name. Every `<` outside of the script and the JSON must begin a plain tag, so names
 *  of the database cannot have become markup. */
export const listTags = ({ text }: Answer): readonly { readonly name: string; readonly attributes: string }[] => {
  const body = text
    .slice(text.indexOf("<body>"))
    .replace(/(<script type="(?:module|application\/json)"[^<>]*>)[^]*?<\/script>/g, "$1</script>");
  const tags = [...body.matchAll(/<\/?([a-z][a-z\d]*)((?: [a-z-]+(?:="[^"<>]*")?)*)>/g)];
  expect(body.split("<").length - 1).toBe(tags.length);
  return tags.map(([, name = "", attributes = ""]) => ({ name, attributes }));
};

/** The tables and views of the page, as name and path. */
export const listRelations = ({ text }: Answer): readonly (readonly [name: string, path: string])[] =>
  [...text.matchAll(/<li><a href="([^"]*)"><code>(.*?)<\/code>/g)].map(([, path = "", name = ""]) => [
    extractText(name),
    extractText(path),
  ]);

/** The facts that the script of the live demo gets. */
export const readDemo = ({ text }: Answer): any => {
  const [, json] = /<script type="application\/json" id="demo">(.*?)<\/script>/s.exec(text) ?? [];
  return json === undefined ? undefined : JSON.parse(json);
};

/** The code or the command of the client. */
export const readCode = ({ text }: Answer, client: string): string =>
  extractText(
    new RegExp(`<summary>${client}.*?</summary><div class="request"><pre><code>(.*?)</code>`, "s").exec(text)?.[1] ??
      "",
  );

export const listRequests = ({ text }: Answer): readonly string[] =>
  [...text.matchAll(/<pre><code>(curl .*?)<\/code><\/pre>/gs)].map(([, markup = ""]) => extractText(markup));

/** Runs the command as a terminal does after it is copied. */
export const run = async (command: string): Promise<any> => {
  const { stdout } = await promisify(execFile)("sh", ["-c", `${command.replace(/^curl/, "curl -sS")}`]);
  return JSON.parse(stdout);
};

export const hasCurl = await promisify(execFile)("curl", ["--version"]).then(
  () => true,
  () => false,
);
