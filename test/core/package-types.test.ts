/** The types that users of the package see. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { collectSettings } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "relapi-types-"));
afterAll(() => rmSync(folder, { recursive: true }));

mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules/relapi"));
symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

/** Whether the older compiler also compiles for each way to import the package, which takes half a minute. */
const allTools = (process.env["ALL_TOOLS"] ?? "") !== "";

/**
 * Returns the compiler's errors for each file that uses the package. They are compiled together, so each sees the
 * imports of the others.
 */
const collectCompileErrors = <Name extends string>(
  texts: Readonly<Record<Name, string>>,
): Readonly<Record<Name, string>> => {
  const names = Object.keys(texts) as Name[];
  for (const name of names) writeFileSync(join(folder, `${name}.ts`), texts[name]);
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", "node"];
  const files = names.map((name) => `${name}.ts`);
  const { status, stdout, stderr } = spawnSync(join(root, "node_modules/.bin/tsc"), [...options, ...files], {
    cwd: folder,
    encoding: "utf8",
  });
  // The other lines of an error are indented.
  const errors = `${stdout}${stderr}`.split(/\n(?=\S)/).filter((text) => text.trim() !== "");
  expect(errors.length > 0, `${stdout}${stderr}`).toBe(status !== 0);
  // An error outside the files counts as an error of each.
  const isElsewhere = (text: string): boolean => !files.some((file) => text.startsWith(`${file}(`));
  const errorsOfFile = (name: Name): string =>
    errors.filter((text) => text.startsWith(`${name}.ts(`) || isElsewhere(text)).join("\n");
  return Object.fromEntries(names.map((name) => [name, errorsOfFile(name)])) as Record<Name, string>;
};

describe("the types in an application", () => {
  const application = mkdtempSync(join(tmpdir(), "relapi-strict-"));
  const modules = join(application, "node_modules");
  afterAll(() => rmSync(application, { recursive: true }));

  // These are only the files that an installation of the package brings, and `@types/node`.
  for (const part of ["package.json", "dist/core", "dist/plugins", "dist/presets"])
    cpSync(join(root, part), join(modules, "relapi", part), {
      recursive: true,
      filter: (path) => statSync(path).isDirectory() || path.endsWith(".d.ts") || path.endsWith("package.json"),
    });
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  mkdirSync(join(modules, "@types"));
  for (const name of [...Object.keys(dependencies), "graphql", "@types/node"])
    symlinkSync(join(root, "node_modules", name), join(modules, name));

  writeFileSync(join(application, "package.json"), '{ "type": "module" }');
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly exports: object };
  const entries = Object.keys(exports).filter((name) => name !== "./package.json");
  const imports = entries.map((name, i) => `import * as entry${i} from "relapi${name.slice(1)}";\nvoid entry${i};\n`);
  writeFileSync(
    join(application, "app.ts"),
    `${imports.join("")}
      import { createServer } from "node:http";
      import { compose, definePlugin, defineSetting, limitExceeded, relApi, settingKinds, sql, without, type ValuesOf } from "relapi";
      import { fullCompat } from "relapi/presets";
      const settings = [
        defineSetting({ name: "slowAfter", kind: settingKinds.wholeNumber(1), default: 5, description: "milliseconds" }),
        defineSetting({ name: "fleet", kind: settingKinds.oneOf(["sail", "steam"]), description: "the fleet" }),
        // @ts-expect-error X-SET-1 a default of another type
        defineSetting({ name: "depth", kind: settingKinds.wholeNumber(1), default: "deep", description: "the depth" }),
      ] as const;
      const limits = [
        defineSetting({ name: "maxWishes", kind: settingKinds.wholeNumber(1), default: 2, description: "wishes", isLimit: true }),
      ] as const;
      declare module "relapi" {
        interface ResolvedOptions extends ValuesOf<typeof settings> {}
        interface RequestLimits extends ValuesOf<typeof limits> {}
      }
      const near = definePlugin({
        name: "near",
        settings: [...settings, ...limits],
        operators: [{ name: "near", rest: "near", types: ["point"], operand: "scalar", compile: (column) => sql\`\${column}\` }],
        apply: (_hooks, context) => {
          const limit: number = context.options.slowAfter;
          const fleet: "sail" | "steam" | undefined = context.options.fleet;
          if (context.options.maxWishes < limit) throw limitExceeded("maxWishes", { code: "too-many", message: String(fleet) });
          // @ts-expect-error X-SET-1 a setting without a default may be undefined
          context.options.fleet.length;
        },
      });
      const factory = (name: string) => definePlugin({ name });
      createServer(relApi(compose(fullCompat({ databaseUrl: process.env["DATABASE_URL"], slowAfter: 7, fleet: "sail" }), without("playground"), near, factory("far"))));
      // @ts-expect-error X-START-7 a factory that was not called
      compose(factory);
      // @ts-expect-error X-START-7
      relApi(fullCompat);
      // @ts-expect-error X-START-7
      relApi({ databaseUrl: "" });
    `,
  );

  const compilers = ["node_modules/typescript", "docs/openapi-typescript/node_modules/typescript"] as const;
  describe.each(compilers)("%s", (compiler) => {
    const resolutions = compiler === compilers[0] || allTools ? undefined : 1;
    // Only bundled applications run in browsers, whose types take a third of the time.
    test.each(
      [
        ["nodenext", "nodenext", "es2022"],
        ["node16", "node16", "es2022"],
        ["esnext", "bundler", "es2022,dom"],
      ].slice(0, resolutions),
    )("C-PKG-4b X-START-7 the types compile under every strict option with %s, %s", (module, resolution, libraries) => {
      const strict = [
        "--strict",
        "--exactOptionalPropertyTypes",
        "--noUncheckedIndexedAccess",
        "--skipLibCheck",
        "false",
      ];
      const options = ["--noEmit", "--target", "es2022", "--lib", libraries, "--types", "node", "--module", module];
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [join(root, compiler, "bin/tsc"), ...options, "--moduleResolution", resolution, ...strict, "app.ts"],
        { cwd: application, encoding: "utf8" },
      );
      expect(`${stdout}${stderr}`).toBe("");
    });
  });
});

describe("types of the package", () => {
  const texts = {
    known: `
      import { definePlugin, sql, type CredentialRules, type OperatorSpec, type RelApi, type Surface, type TokenRules } from "relapi";
      export const near = definePlugin({
        name: "near",
        operators: [{ name: "near", rest: "near", graphql: "_near", types: ["point"], operand: "scalar", compile: (column) => sql\`\${column}\` }],
        aggregates: [{ name: "median", rest: false, graphql: "median", types: ["int4"] }],
        embeds: [{ mode: "first", rest: { prefix: "~" }, graphql: { suffix: "_first" }, compile: () => ({ columns: [] }) }],
      });
      export const name: OperatorSpec["graphql"] = "_near";
      export const surface = (given: Surface): Surface => ({ ...given, credentialRules: given.credentialRules });
      export const checkClaims = (rules: CredentialRules): TokenRules["checkClaims"] => rules.checkClaims;
      export const call = (api: RelApi) => [api.rest({ path: "/vessels" }), api.graphql({ query: "{ vessels { id } }" })];
    `,
    unknown: `import type { OperatorSpec } from "relapi";\nexport const soap: OperatorSpec["soap"] = 1;\n`,
  };
  const errors = collectCompileErrors(texts);

  test("X-TYP-1 an import from the package has the members that the surfaces add to declared parts and to the api", () => {
    expect(errors.known).toBe("");
  });

  test("X-TYP-1 a member that no surface adds is an error", () => {
    expect(errors.unknown).toContain("Property 'soap' does not exist on type 'OperatorSpec'");
  });
});

test("X-PAT-6 relapi/live-client has its types", () => {
  const using = (rows: string): string => `
      import { applyPatch, createGraphqlPatchApplier, createRestPatchApplier, type PatchOperation } from "relapi/live-client";
      const rows = createRestPatchApplier<readonly { readonly id: number }[]>();
      export const ids: number[] = rows("").map(({ id }) => ${rows});
      const operations: readonly PatchOperation[] = [{ op: "move", from: "/a", path: "/b" }];
      export const patched: { readonly a: number } = applyPatch({ a: 1 }, operations);
      export const next: { readonly data?: string } = createGraphqlPatchApplier()({ data: "whole" });
    `;
  const errors = collectCompileErrors({ right: using("id"), wrong: using("String(id)") });
  expect(errors.right).toBe("");
  expect(errors.wrong).toContain("Type 'string[]' is not assignable to type 'number[]'");
});

test("X-SET-8 each preset has the options of all presets, with their types", () => {
  const presets = ["fullCompat", "gqlCompat", "minimal", "plus", "restCompat"];
  const head = `import { ${presets.join(", ")} } from "relapi/presets";\n`;
  const using = (name: string): string => `${head}export const preset = minimal({ dbMaxRows: 5, ${name}: 7 });`;
  // Text is in place of a number or a boolean, and a number in place of anything else.
  const wrongValues = collectSettings(plus({})).map(({ name, kind }) => {
    const types = ["5", "1", "10000", "true"].map((text) => typeof kind.parse(text));
    return [name, types.includes("number") || types.includes("boolean") ? '"5"' : "5"];
  });
  const options = [...wrongValues, ["database", "5"], ["logger", "5"]];
  const calls = presets.flatMap((preset) => options.map(([name, value]) => `${preset}({ ${name}: ${value} });`));
  const errors = collectCompileErrors({
    right: using("maxAliases"),
    wrong: using("maxAliasess"),
    calls: head + calls.join("\n"), // one line for each
  });
  expect(errors.right).toBe("");
  expect(errors.wrong).toContain("Did you mean to write 'maxAliases'?");
  const rejectedCalls = [...errors.calls.matchAll(/^calls\.ts\((\d+),/gm)].map(([, line]) => calls[Number(line) - 2]);
  expect(calls.filter((call) => !rejectedCalls.includes(call))).toEqual([]);
});

test("X-TYP-1 a surface of your own adds its members", () => {
  const soapTypes = `
      import type { OperatorSpec, RelApi } from "relapi";
      declare module "relapi" {
        interface OperatorSpec { readonly soap?: string }
        interface ApiMethods { soap(envelope: string): Promise<string> }
      }
      export const soap: OperatorSpec["soap"] = "near";
      export const graphql: OperatorSpec["graphql"] = "_near";
      export const call = (api: RelApi) => api.soap("<near/>");
    `;
  expect(collectCompileErrors({ own: soapTypes })).toEqual({ own: "" });
});
