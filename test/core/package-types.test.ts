/** What users of the package see of its types. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "relapi-types-"));
afterAll(() => rmSync(folder, { recursive: true }));

mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules/relapi"));
symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

/** The compiler's errors for a file that installs the package. */
const errorsOf = (text: string, ...more: readonly string[]): string => {
  writeFileSync(join(folder, "user.ts"), text);
  const options = ["--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--types", "node", ...more];
  try {
    execFileSync(join(root, "node_modules/.bin/tsc"), [...options, "user.ts"], { cwd: folder, encoding: "utf8" });
    return "";
  } catch (error) {
    return String((error as { stdout?: string }).stdout);
  }
};

test("X-TYP-1 import from the package alone knows what the surfaces add to declared parts and to the api", () => {
  expect(
    errorsOf(`
      import { definePlugin, sql, type CredentialRules, type OperatorSpec, type RelApi, type Surface, type TokenRules } from "relapi";
      export const near = definePlugin({
        name: "near",
        operators: [{ name: "near", rest: "near", graphql: "_near", types: ["point"], operand: "scalar", compile: (column) => sql\`\${column}\` }],
        aggregates: [{ name: "median", rest: false, graphql: "median", types: ["int4"] }],
        embeds: [{ mode: "first", rest: { prefix: "~" }, graphql: { suffix: "_first" }, compile: () => ({ columns: [] }) }],
      });
      export const name: OperatorSpec["graphql"] = "_near";
      export const surface = (given: Surface): Surface => ({ ...given, credentialRules: given.credentialRules });
      export const judge = (rules: CredentialRules): TokenRules["judge"] => rules.judge;
      export const call = (api: RelApi) => [api.rest({ path: "/vessels" }), api.graphql({ query: "{ vessels { id } }" })];
    `),
  ).toBe("");
});

test("X-PAT-6 relapi/live-client has its types", () => {
  const using = (rows: string): string =>
    errorsOf(`
      import { applyPatch, livePatches, liveRows, type PatchOperation } from "relapi/live-client";
      const rows = liveRows<readonly { readonly id: number }[]>();
      export const ids: number[] = rows("").map(({ id }) => ${rows});
      const operations: readonly PatchOperation[] = [{ op: "move", from: "/a", path: "/b" }];
      export const patched: { readonly a: number } = applyPatch({ a: 1 }, operations);
      export const next: { readonly data?: string } = livePatches()({ data: "whole" });
    `);
  expect(using("id")).toBe("");
  expect(using("String(id)")).toContain("Type 'string[]' is not assignable to type 'number[]'");
});

test("X-SET-8 each preset by itself knows the options of all", () => {
  const options = (name: string): string =>
    errorsOf(
      `import { minimal } from "relapi/presets/minimal"; export const preset = minimal({ dbMaxRows: 5, ${name}: 7 });`,
    );
  expect(options("maxAliases")).toBe("");
  expect(options("maxAliasess")).toContain("Did you mean to write 'maxAliases'?");
});

test("X-TYP-2 what the README shows compiles under every strict option", () => {
  const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/```ts\n([^]*?)```/g)].map(
    ([, text]) => text!,
  );
  expect(blocks.length).toBeGreaterThanOrEqual(2);
  const names = "declare const app: import('express').Express; declare const databaseUrl: string | undefined;\n";
  for (const text of blocks) {
    const isWhole = text.includes("const app");
    expect(errorsOf(isWhole ? text : names + text, "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess")).toBe(
      "",
    );
  }
});

test("X-TYP-1 a surface of your own adds its members", () => {
  expect(
    errorsOf(`
      import type { OperatorSpec, RelApi } from "relapi";
      declare module "relapi" {
        interface OperatorSpec { readonly soap?: string }
        interface ApiMethods { soap(envelope: string): Promise<string> }
      }
      export const soap: OperatorSpec["soap"] = "near";
      export const graphql: OperatorSpec["graphql"] = "_near";
      export const call = (api: RelApi) => api.soap("<near/>");
    `),
  ).toBe("");
});

test("X-TYP-1 a member that no surface adds is an error", () => {
  expect(
    errorsOf(`import type { OperatorSpec } from "relapi";\nexport const soap: OperatorSpec["soap"] = 1;\n`),
  ).toContain("Property 'soap' does not exist on type 'OperatorSpec'");
});
