/** The dashboard is one by the JSON model that Grafana documents (its classic one), as far as this one uses it: what a
 *  field may be, which ones must be there, and which ones there are at all. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** Says what is wrong with a value, by path. */
type Check = (value: unknown, path: string) => readonly string[];

const is =
  (what: string, holds: (value: any) => boolean): Check =>
  (value, path) =>
    holds(value) ? [] : [`${path}: ${JSON.stringify(value)} is not ${what}`];

const text = is("a text", (value) => typeof value === "string");
const filled = is("a text that says something", (value) => typeof value === "string" && value.trim() !== "");
const flag = is("true or false", (value) => typeof value === "boolean");
const whole = (from: number, to = 65_535): Check =>
  is(`a whole number from ${from} to ${to}`, (value) => Number.isInteger(value) && value >= from && value <= to);
const oneOf = (...words: readonly unknown[]): Check =>
  is(`one of ${words.join(", ")}`, (value) => words.includes(value));
const matching = (pattern: RegExp): Check =>
  is(String(pattern), (value) => typeof value === "string" && pattern.test(value));

const listOf =
  (check: Check): Check =>
  (value, path) =>
    Array.isArray(value) ? value.flatMap((item, i) => check(item, `${path}[${i}]`)) : [`${path}: no list`];

const either =
  (...checks: readonly Check[]): Check =>
  (value, path) => {
    const found = checks.map((check) => check(value, path));
    return found.find((faults) => faults.length === 0) ?? found.flat();
  };

/** No other fields. */
const object =
  (required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check =>
  (value, path) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path}: no object`];
    const fields = value as Readonly<Record<string, unknown>>;
    return [
      ...Object.keys(required).flatMap((name) => (name in fields ? [] : [`${path}: ${name} is missing`])),
      ...Object.entries(fields).flatMap(([name, field]) => {
        const check = required[name] ?? optional[name];
        return check === undefined ? [`${path}: there is no field ${name}`] : check(field, `${path}.${name}`);
      }),
    ];
  };

const COLUMNS = 24;

const gridPos: Check = object({ h: whole(1), w: whole(1, COLUMNS), x: whole(0, COLUMNS - 1), y: whole(0) });

const datasource = object({ type: filled, uid: filled });

const prometheusQuery = object(
  { refId: matching(/^[A-Z]$/), expr: filled },
  { legendFormat: filled, editorMode: oneOf("code", "builder"), range: flag, instant: flag },
);

const row = object({
  type: oneOf("row"),
  id: whole(1),
  title: filled,
  collapsed: flag,
  gridPos,
  panels: is("an empty list, as those of an open row are beside it", (value) => value?.length === 0),
});

const timeseries = object(
  {
    type: oneOf("timeseries"),
    id: whole(1),
    title: filled,
    gridPos,
    datasource,
    targets: listOf(prometheusQuery),
    fieldConfig: object({
      defaults: object(
        { unit: filled },
        {
          custom: object({}, { fillOpacity: whole(0, 100), showPoints: oneOf("auto", "never", "always") }),
          min: whole(0),
          max: whole(0),
        },
      ),
      overrides: listOf(
        object({
          matcher: object({ id: filled }, { options: () => [] }),
          properties: listOf(object({ id: filled }, { value: () => [] })),
        }),
      ),
    }),
  },
  {
    description: filled,
    options: object(
      {},
      {
        legend: object({ displayMode: oneOf("list", "table", "hidden"), placement: oneOf("bottom", "right") }),
        tooltip: object({ mode: oneOf("single", "multi", "none"), sort: oneOf("asc", "desc", "none") }),
      },
    ),
  },
);

const chosen = either(text, listOf(text));

const variable = object(
  { name: matching(/^\w+$/), type: oneOf("query", "datasource") },
  {
    label: filled,
    datasource,
    query: either(filled, object({ query: filled, refId: filled })),
    refresh: oneOf(0, 1, 2),
    includeAll: flag,
    allValue: text,
    multi: flag,
    hide: oneOf(0, 1, 2),
    current: object({ text: chosen, value: chosen }, { selected: flag }),
  },
);

/** The one that the documentation of the model names; newer versions of Grafana carry older files over. */
const OLDEST_SCHEMA = 36;

const dashboardModel = object(
  { schemaVersion: whole(OLDEST_SCHEMA, 42), title: filled, panels: listOf(either(row, timeseries)) },
  {
    uid: matching(/^[\w-]{1,40}$/),
    version: whole(0),
    tags: listOf(filled),
    editable: flag,
    graphTooltip: oneOf(0, 1, 2),
    refresh: matching(/^\d+[smhd]$/),
    time: object({ from: matching(/^now-\d+[smhdw]$/), to: oneOf("now") }),
    timezone: oneOf("browser", "utc"),
    templating: object({ list: listOf(variable) }),
    annotations: object({ list: listOf(() => []) }),
    links: listOf(() => []),
  },
);

const file = readFileSync(new URL("../../docs/deploy/grafana.json", import.meta.url), "utf8");
const dashboard = JSON.parse(file);

test("X-MET-7 the dashboard is one by Grafana's JSON model", () => {
  expect(dashboardModel(dashboard, "dashboard")).toEqual([]);
});

test("X-MET-7 what the model does not allow is found", () => {
  for (const spoil of [
    (copy: any) => delete copy.schemaVersion,
    (copy: any) => (copy.schemaVersion = "39"),
    (copy: any) => (copy.panels[1].gridPos.w = 25),
    (copy: any) => delete copy.panels[1].gridPos,
    (copy: any) => delete copy.panels[0].collapsed,
    (copy: any) => delete copy.panels[1].targets[0].expr,
    (copy: any) => (copy.panels[1].type = "graph2"),
    (copy: any) => (copy.templating.list[0].type = "data source"),
    (copy: any) => (copy.templating.list[1].current = {}),
    (copy: any) => (copy.panels[1].unit = "reqps"),
  ]) {
    const copy = JSON.parse(file);
    spoil(copy);
    expect(dashboardModel(copy, "dashboard"), String(spoil)).not.toEqual([]);
  }
});

test("X-MET-7 panels have ids of their own, stay within 24 columns and cover no other", () => {
  const ids = dashboard.panels.map(({ id }: any) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const taken = new Map<string, string>();
  for (const {
    title,
    gridPos: { x, y, w, h },
  } of dashboard.panels) {
    expect(x + w, title).toBeLessThanOrEqual(COLUMNS);
    for (let column = x; column < x + w; column++)
      for (let line = y; line < y + h; line++) {
        const place = `${column} ${line}`;
        expect(taken.get(place), `${title} covers another`).toBeUndefined();
        taken.set(place, title);
      }
  }
});

test("X-MET-7 the reader chooses the data source, and every variable in use is declared", () => {
  const [first, ...others] = dashboard.templating.list;
  expect(first).toMatchObject({ name: "datasource", type: "datasource", query: "prometheus" });
  const ofVariable = { type: "prometheus", uid: "${datasource}" };
  for (const { datasource: of, name } of others) expect(of, name).toEqual(ofVariable);
  const declared = new Set([first, ...others].map(({ name }: any) => name));
  for (const { type, title, datasource: of, targets = [] } of dashboard.panels) {
    if (type === "row") continue;
    expect(of, title).toEqual(ofVariable);
    expect(new Set(targets.map(({ refId }: any) => refId)).size, title).toBe(targets.length);
  }
  for (const [, name = ""] of file.matchAll(/\$\{?([A-Za-z_]\w*)\}?/g))
    // Grafana's own begin so
    expect(declared.has(name) || name.startsWith("__"), name).toBe(true);
});
