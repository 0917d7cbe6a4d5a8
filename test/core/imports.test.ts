/** The import table of docs/design.md, section 6. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Import {
  /** Path from the project's root. */
  readonly from: string;
  /** Path from the project's root of a file of the project, else the package's name. */
  readonly to: string;
  /** As written. */
  readonly specifier: string;
  /** Erased by the compiler: `import type`. */
  readonly isType: boolean;
  /** Imported names that exist at run time. */
  readonly names: readonly string[];
}

const filesOf = (folder: string): string[] =>
  existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
        .filter((name) => /\.tsx?$/.test(name) && !name.includes("node_modules"))
        .map((name) => join(folder, name).replaceAll("\\", "/"))
        .sort()
    : [];

// import { sql, type Sql } from "./index.ts"      export * from "./x.ts"
const FROM = /^[ \t]*(?:import|export)\s+([^"';]*?)\s*from\s*["']([^"']+)["']/gm;
// import "./x.ts"      await import("./x.ts")      import("graphql").GraphQLType (a type, known by its capital)
const BARE = /^[ \t]*import\s*["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']\s*\)(\.[A-Z])?/gm;

const namesOf = (clause: string): string[] =>
  /^type\b/.test(clause)
    ? []
    : [...clause.matchAll(/\{([^}]*)\}/g)]
        .flatMap((braces) => (braces[1] ?? "").split(","))
        .map((name) => name.trim())
        .filter((name) => name !== "" && !name.startsWith("type "))
        .map((name) => name.split(/\s+as\s+/)[0]!);

const targetOf = (file: string, specifier: string): string => {
  if (specifier.startsWith(".")) return relative(root, join(root, dirname(file), specifier)).replaceAll("\\", "/");
  return specifier.startsWith("@") ? specifier.split("/").slice(0, 2).join("/") : specifier.split("/")[0]!;
};

const importsOf = (file: string): Import[] => {
  const text = readFileSync(join(root, file), "utf8").replace(/^[ \t]*(\/\/|\/?\*).*$/gm, ""); // comments may show imports
  const found: Omit<Import, "from" | "to">[] = [];
  for (const match of text.matchAll(FROM)) {
    found.push({ specifier: match[2]!, isType: /^type\b/.test(match[1]!), names: namesOf(match[1]!) });
  }
  for (const match of text.matchAll(BARE)) {
    found.push({ specifier: (match[1] ?? match[2])!, isType: match[3] !== undefined, names: [] });
  }
  return found.map((item) => ({ ...item, from: file, to: targetOf(file, item.specifier) }));
};

/** Its texts are files of another project. */
const TEMPLATES = "presets/cli/project-files.ts";

const files = ["core", "plugins", "presets", "test"].flatMap(filesOf).filter((file) => file !== TEMPLATES);
const imports = files.flatMap(importsOf);

/** `core/engine/model/model.ts` → `core/engine`; `core/hooks.ts` → `core`; `plugins/rest/x/y.ts` → `plugins/rest`;
 *  `plugins/plus/x/y.ts` → `plugins/plus/x`. */
const roomOf = (file: string): string =>
  dirname(file)
    .split("/")
    .slice(0, file.startsWith("plugins/plus/") ? 3 : 2)
    .join("/");

/** What `import … from "relapi"` has at run time. */
const exported = imports.flatMap(({ from, names }) => (from === "presets/relapi.ts" ? names : []));

const isProject = ({ specifier }: Import): boolean => specifier.startsWith(".");
const isNode = ({ specifier }: Import): boolean => specifier.startsWith("node:");
/** What a plugin folder says to others. */
const isApi = ({ to }: Import): boolean => /^plugins\/(?:plus\/)?[^/]+\/api\.ts$/.test(to);

/** What any plugin may use: declarations that several list, what several show first of a database, and what their hints
 *  are made of. */
const SHARED: ReadonlySet<string> = new Set([
  "plugins/settings.ts",
  "plugins/examples.ts",
  "plugins/hints.ts",
  "plugins/json-path.ts",
  "plugins/pages.ts",
]);
/** What a plugin folder says of its options. */
const isOptions = ({ to, isType }: Import): boolean =>
  isType && /^plugins\/(?:plus\/)?([^/]+\/)?settings\.ts$/.test(to);

const offences = (of: (item: Import) => boolean, allowed: (item: Import) => boolean): string[] =>
  imports.filter((item) => of(item) && !allowed(item)).map((item) => `${item.from} imports ${item.specifier}`);

const inside =
  (...folders: readonly string[]) =>
  ({ from }: Import): boolean =>
    folders.some((folder) => from.startsWith(`${folder}/`));
const leadsTo =
  (...places: readonly string[]) =>
  ({ to }: Import): boolean =>
    places.some((place) => to === place || to.startsWith(`${place}/`));

/** What builds SQL: not for the surfaces, which write plans. */
const SQL_NAMES: readonly string[] = [
  "sql",
  "ident",
  "value",
  "slot",
  "join",
  "literal",
  "integer",
  "catalogText",
  "toStatement",
];

/** What the rooms of core are told of each other: types of hooks and plugins. */
const AGREED = ["core/hooks.ts", "core/plugin.ts"];

/** Files that import each other, directly or through others: the strongly connected components of more than one file,
 *  by Tarjan's algorithm. */
const circlesOf = (edges: readonly Import[]): readonly (readonly string[])[] => {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const visits = new Map<string, { readonly index: number; low: number; isOpen: boolean }>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string) => {
    const mine = { index: visits.size, low: visits.size, isOpen: true };
    visits.set(file, mine);
    open.push(file);
    for (const target of targets.get(file) ?? []) {
      const known = visits.get(target);
      if (known === undefined) mine.low = Math.min(mine.low, visit(target).low);
      else if (known.isOpen) mine.low = Math.min(mine.low, known.index);
    }
    if (mine.low < mine.index) return mine;
    const circle = open.splice(open.indexOf(file));
    for (const member of circle) visits.get(member)!.isOpen = false;
    if (circle.length > 1) circles.push(circle.sort());
    return mine;
  };
  for (const file of targets.keys()) if (!visits.has(file)) visit(file);
  return circles.sort((a, b) => (a[0]! < b[0]! ? -1 : 1));
};

describe("import table", () => {
  test("there are imports to look at", () => {
    expect(imports.length).toBeGreaterThan(0);
  });

  test("relative imports carry .ts and lead to a file", () => {
    expect(offences(isProject, ({ to }) => to.endsWith(".ts") && existsSync(join(root, to)))).toEqual([]);
  });

  test("core/kernel runs without the other rooms", () => {
    const agreed = leadsTo(...AGREED, "core/engine", "core/http");
    expect(
      offences(
        inside("core/kernel"),
        (item) => !isProject(item) || leadsTo("core/kernel")(item) || (agreed(item) && item.isType),
      ),
    ).toEqual([]);
  });

  test("core/engine runs on the kernel, without core/http", () => {
    expect(
      offences(
        inside("core/engine"),
        (item) =>
          !isProject(item) || leadsTo("core/engine", "core/kernel")(item) || (leadsTo(...AGREED)(item) && item.isType),
      ),
    ).toEqual([]);
  });

  test("core/http runs on the kernel, without the engine", () => {
    const agreed = leadsTo(...AGREED, "core/engine");
    expect(
      offences(
        inside("core/http"),
        (item) => !isProject(item) || leadsTo("core/http", "core/kernel")(item) || (agreed(item) && item.isType),
      ),
    ).toEqual([]);
  });

  test("core/engine/model and core/engine/plan import each other and the kernel's memoize only", () => {
    const rooms = ["core/engine/model", "core/engine/plan"];
    expect(offences(inside(...rooms), leadsTo(...rooms, "core/kernel/memoize.ts"))).toEqual([]);
  });

  test("core/engine/sql imports model, plan, errors, near names, memoize, and types of hooks and plugins", () => {
    const kernel = ["core/kernel/errors.ts", "core/kernel/near-names.ts", "core/kernel/memoize.ts"];
    const rooms = leadsTo("core/engine/sql", "core/engine/model", "core/engine/plan", ...kernel);
    expect(
      offences(inside("core/engine/sql"), (item) => rooms(item) || (leadsTo(...AGREED)(item) && item.isType)),
    ).toEqual([]);
  });

  test("core imports core, Node and its libraries; plugins and presets never", () => {
    expect(
      offences(
        ({ from }) => from.startsWith("core/"),
        (item) =>
          item.to.startsWith("core/") ||
          isNode(item) ||
          item.to === "tapable" ||
          (item.to === "lru-cache" && item.from === "core/kernel/cache.ts") ||
          (item.to === "pg-protocol" && item.from === "core/engine/database/wire.ts") ||
          (item.to === "pg" && item.from === "core/engine/database/client.ts"),
      ),
    ).toEqual([]);
  });

  test("one file of core imports pg, another and the embedded database pg-protocol, and tests of the insides both", () => {
    expect(
      offences(
        ({ to, specifier }) => to === "pg" || specifier.startsWith("pg-") || specifier.startsWith("pg/"),
        ({ from, to }) =>
          from === `core/engine/database/${to === "pg" ? "client" : "wire"}.ts` ||
          (to === "pg-protocol" && from === "plugins/embedded/messages.ts") ||
          /^test\/(support|core|bench|production)\//.test(from),
      ),
    ).toEqual([]);
  });

  test("express is imported by presets only, PGlite by plugins/embedded", () => {
    expect(
      offences(
        ({ to }) => to === "express",
        ({ from }) => from.startsWith("presets/") || from.startsWith("test/"),
      ),
    ).toEqual([]);
    expect(offences(({ to }) => to.startsWith("@electric-sql/"), inside("plugins/embedded"))).toEqual([]);
  });

  test("plugins/embedded imports Node, PGlite and pg-protocol beside core/index.ts", () => {
    expect(
      offences(
        inside("plugins/embedded"),
        (item) =>
          leadsTo("plugins/embedded", "core/index.ts")(item) ||
          isNode(item) ||
          item.to === "@electric-sql/pglite" ||
          item.to === "pg-protocol",
      ),
    ).toEqual([]);
  });

  test("files of settings import core/index.ts only", () => {
    expect(
      offences(
        ({ from }) => /^plugins\/(?:plus\/)?([^/]+\/)?settings\.ts$/.test(from),
        ({ to }) => to === "core/index.ts",
      ),
    ).toEqual([]);
  });

  test("plugins import core/index.ts, shared settings, their own folder and the api.ts of others", () => {
    const surfaces = ["plugins/rest", "plugins/graphql"];
    expect(
      offences(
        (item) => item.from.startsWith("plugins/") && isProject(item),
        (item) =>
          roomOf(item.to) === roomOf(item.from) ||
          item.to === "core/index.ts" ||
          SHARED.has(item.to) ||
          isApi(item) ||
          (item.to === "core/engine/sql/fragment.ts" && !surfaces.includes(roomOf(item.from))),
      ),
    ).toEqual([]);
  });

  test("P-GEN-1 the plugins of plus import what any package may: core/index.ts, an api.ts, their own folder", () => {
    expect(
      offences(
        (item) => inside("plugins/plus")(item) && isProject(item),
        (item) => roomOf(item.to) === roomOf(item.from) || item.to === "core/index.ts" || isApi(item),
      ),
    ).toEqual([]);
    const used = imports.filter((item) => inside("plugins/plus")(item) && item.to === "core/index.ts");
    for (const { names } of used) expect(exported).toEqual(expect.arrayContaining([...names]));
    expect(filesOf("plugins").filter((file) => /^plugins\/plus\/[^/]+\.ts$/.test(file))).toEqual([]); // a folder each
  });

  test("C-PKG-4 the package exports what its documentation imports from it", () => {
    const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
      .map((name) => join("docs", name));
    const used = [...pages, "README.md"].flatMap(importsOf).filter(({ specifier }) => specifier === "relapi");
    expect(used.flatMap(({ names }) => names)).toContain("definePlugin");
    for (const { names } of used) expect(exported).toEqual(expect.arrayContaining([...names]));
  });

  test("the rooms of plugins/rest import downwards: openapi, plan, answer and syntax", () => {
    const shared = ["plugins/rest/errors.ts", "plugins/rest/request.ts", "plugins/rest/api.ts"];
    const below: Readonly<Record<string, readonly string[]>> = {
      syntax: ["syntax"],
      plan: ["plan", "answer", "syntax"],
      answer: ["answer"],
      openapi: ["openapi", "plan"],
    };
    for (const [room, rooms] of Object.entries(below)) {
      const allowed = leadsTo("core", ...shared, ...rooms.map((name) => `plugins/rest/${name}`));
      expect(offences(inside(`plugins/rest/${room}`), (item) => !isProject(item) || allowed(item))).toEqual([]);
    }
  });

  test("the surfaces build no SQL, but for what no plan can say", () => {
    const builders = imports.filter(
      ({ from, to, names }) =>
        /^plugins\/(rest|graphql)\//.test(from) &&
        to.startsWith("core/") &&
        names.some((name) => SQL_NAMES.includes(name)),
    );
    expect(builders.map(({ from }) => from)).toEqual([
      "plugins/graphql/plan/functions.ts", // compiles a plan function of its own
      "plugins/rest/openapi-3.ts", // asks the catalog what extensions have brought along
      "plugins/rest/openapi.ts", // a statement without a plan: what the pre-request says to the answer
      "plugins/rest/response-settings.ts", // columns of its own in the row of every statement
    ]);
  });

  test("presets import core/index.ts, each other, types of options and files that define plugins", () => {
    const isDoor = (to: string): boolean =>
      to.startsWith("plugins/") &&
      (to.endsWith("/index.ts") || /\bdefinePlugin\(/.test(readFileSync(join(root, to), "utf8")));
    expect(
      offences(
        (item) => item.from.startsWith("presets/") && isProject(item),
        (item) =>
          item.to === "core/index.ts" ||
          item.to.startsWith("presets/") ||
          isApi(item) ||
          isOptions(item) ||
          item.to === "plugins/examples.ts" || // the banner shows the same tables as the pages
          isDoor(item.to),
      ),
    ).toEqual([]);
  });

  test("tests import core/index.ts, presets, an api.ts and test/support; test/core the insides too", () => {
    expect(
      offences(
        (item) => item.from.startsWith("test/") && !item.from.startsWith("test/core/") && isProject(item),
        (item) =>
          item.to === "core/index.ts" ||
          item.to === "plugins/live-patches/client.ts" || // relapi/live-client
          isApi(item) ||
          item.to.startsWith("presets/") ||
          item.to.startsWith("test/support/") ||
          roomOf(item.to) === roomOf(item.from) ||
          (/^test\/(?:support|bench)\//.test(item.from) &&
            ["plugins/admin/index.ts", "plugins/embedded/index.ts", "plugins/metrics/index.ts"].includes(item.to)),
      ),
    ).toEqual([]);
  });

  test("nothing outside test imports test", () => {
    expect(
      offences(
        ({ from }) => !from.startsWith("test/"),
        ({ to }) => !to.startsWith("test/"),
      ),
    ).toEqual([]);
  });

  test("circles are found", () => {
    const edge = (from: string, to: string): Import => ({ from, to, specifier: "", isType: true, names: [] });
    const edges = [edge("a", "b"), edge("b", "c"), edge("c", "b"), edge("d", "a"), edge("a", "c")];
    expect(circlesOf(edges)).toEqual([["b", "c"]]);
  });

  test("no circles of imports, types included", () => {
    const shipped = imports.filter((item) => isProject(item) && !item.from.startsWith("test/"));
    expect(circlesOf(shipped)).toEqual([]);
  });
});
