/** The TypeScript of README.md and of the pages in `docs/`, as files that compile beside each other. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseBlocks, readPage } from "./pages.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The values that belong to the reader's application: docs/guides/README.md. */
const READER = `
  import type { Express, RequestHandler } from "express";
  import type { Exchange, Plan, Plugin, PluginContext, RelApi, RelApiHooks } from "relapi";
  import type { PresetOptions } from "relapi/presets";
  declare global {
    const app: Express;
    const api: RelApi;
    const databaseUrl: string | undefined;
    const adminSecret: string | undefined;
    const jwtSecret: string | undefined;
    const options: PresetOptions;
    const hooks: RelApiHooks;
    const context: PluginContext;
    const exchange: Exchange;
    const plan: Plan;
    const schema: string;
    const session: RequestHandler;
    const keys: ReadonlyMap<string, string>;
    const prefixOperator: Plugin;
    const askForToken: (name: string, password: string) => Promise<string | undefined>;
    const askTheBank: (currency: string) => Promise<number | undefined>;
    const askTheImageServer: (artists: readonly string[], width: number) => Promise<readonly string[]>;
    const renderPdf: (invoice: unknown) => Promise<Buffer>;
    namespace Express { interface Request { readonly user: { readonly id: string } } }
  }
`;

/** The frameworks of the recipes, which are no dependencies of the tests. */
const FRAMEWORKS = `
  declare module "fastify" {
    import type { RequestListener, Server } from "node:http";
    export default function Fastify(options: { serverFactory(handler: RequestListener): Server }): any;
  }
  declare module "@nestjs/common" {
    export const Controller: (path: string) => ClassDecorator;
    export const Get: (path: string) => MethodDecorator;
    export const Inject: (token: symbol) => ParameterDecorator;
    export const Module: (parts: object) => ClassDecorator;
    export interface OnApplicationShutdown { onApplicationShutdown(): unknown }
  }
  declare module "@nestjs/core" { export const NestFactory: { create(module: unknown): Promise<any> } }
  declare module "next" {
    import type { IncomingMessage, ServerResponse } from "node:http";
    export interface NextConfig {
      readonly serverExternalPackages?: readonly string[];
      readonly rewrites?: () => Promise<readonly { readonly source: string; readonly destination: string }[]>;
    }
    export type NextApiRequest = IncomingMessage;
    export type NextApiResponse = ServerResponse;
  }
  declare module "next/server" { export const connection: () => Promise<void> }
  declare module "reflect-metadata" {}
  declare namespace JSX { interface IntrinsicElements { ul: unknown; li: unknown } }
`;

/** The entry point that exports a name, by the page of the public API. Names of the reader have precedence. */
const entryPoints = (): ReadonlyMap<string, string> => {
  const entryByName = new Map([["SyncBailHook", "tapable"]]);
  const readerNames = new Set(Array.from(READER.matchAll(/const (\w+):/g), ([, name]) => name));
  for (const section of readPage("reference/public-api.md").split(/^## /m)) {
    const [entry = ""] = section.split("\n");
    if (!/^relapi(?:\/presets|\/plugins\/[\w/]+)?$/.test(entry)) continue;
    for (const [, name = ""] of section.matchAll(/^\| `(\w+)`/gm))
      if (!entryByName.has(name) && !readerNames.has(name)) entryByName.set(name, entry);
  }
  return entryByName;
};

interface CodeBlock {
  /** The page and the line, for messages. */
  readonly place: string;
  /** The path of the file, such as `guides/tenants.2.ts`. */
  readonly file: string;
  readonly text: string;
  /** True if the block uses the reader's `app`, and not one that it makes. */
  readonly usesApp: boolean;
}

/**
 * Returns each block as a module. A block without imports is a fragment: it gets imports of the names that the package
 * and the page's earlier blocks export. The first line of a block may name its file.
 */
const listBlocks = (page: string, text: string, entries: ReadonlyMap<string, string>): readonly CodeBlock[] => {
  const folder = page.replace(/\.md$/, "");
  const exportedNames = new Map<string, string>();
  const files = new Set<string>();
  return parseBlocks(text.replaceAll(/^ {2}(?=```)/gm, ""))
    .filter(({ language }) => language === "ts" || language === "tsx")
    .map(({ language, text: code, line }, index) => {
      const nameInBlock = /^\/\/ (\S+\.tsx?)\n/.exec(code)?.[1];
      const defaultFile = `${folder}.${index + 1}.${language}`;
      const file =
        nameInBlock === undefined || files.has(`${folder}/${nameInBlock}`) ? defaultFile : `${folder}/${nameInBlock}`;
      files.add(file);
      const declaredNames = new Set(
        Array.from(code.matchAll(/\b(?:const|interface|type|class) (\w+)/g), ([, name]) => name),
      );
      const usedNames = new Set(Array.from(code.matchAll(/\b[A-Za-z]\w+/g), ([name]) => name));
      const isFragment = !/^import /m.test(code);
      const imports = [...new Map([...entries, ...exportedNames])]
        .filter(([name]) => isFragment && usedNames.has(name) && !declaredNames.has(name))
        .map(([name, from]) => `import { ${name} } from "${from}";\n`);
      if (isFragment && usedNames.has("http")) imports.push('import http from "node:http";\n');
      for (const [, name = ""] of code.matchAll(/^export const (\w+)/gm))
        exportedNames.set(name, `./${defaultFile.split("/").at(-1)?.replace(/\.ts$/, ".js")}`);
      const usesApp = usedNames.has("app") && !declaredNames.has("app");
      return { place: `${page}:${line}`, file, text: `${imports.join("")}${code}export {};\n`, usesApp };
    });
};

/** The blocks, and the declarations that they share. */
export const listCode = (): {
  readonly blocks: readonly CodeBlock[];
  readonly sharedFiles: ReadonlyMap<string, string>;
} => {
  const entries = entryPoints();
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !/node_modules/.test(name) && name !== "reference/hooks.md")
    .sort();
  // The blocks of hooks.md are parts of this file, as `guides.test.ts` checks.
  const hooks = readFileSync(join(root, "test/core/guides/hooks.ts"), "utf8")
    .replaceAll(/(?:\.\.\/)+core\/index\.ts/g, "relapi")
    .replaceAll(/(?:\.\.\/)+(plugins\/.*)\.ts"/g, 'relapi/$1"');
  const readme = listBlocks("README.md", readFileSync(join(root, "README.md"), "utf8"), entries);
  return {
    blocks: [
      ...readme,
      ...pages.flatMap((page) => listBlocks(page, readPage(page), entries)),
      { place: "reference/hooks.md", file: "reference/hooks.ts", text: hooks, usesApp: false },
    ],
    sharedFiles: new Map([
      ["reader.d.ts", READER],
      ["frameworks.d.ts", FRAMEWORKS],
      ["recipes/nextjs/package.json", "{}"], // its bundler resolves imports without an extension
    ]),
  };
};
