/** Finds the table columns that the columns of views show. `select id as vessel_id from sea.vessels`: `vessel_id` is
 *  `vessels.id`. */

/** A column by relation oid and attribute number. */
interface ColumnOrigin {
  readonly relation: number;
  readonly position: number;
}

/** The origins of a view's columns by attribute number. Expressions have no entry. */
export type Origins = ReadonlyMap<number, ColumnOrigin>;

const BACKSLASH = 92;
const COLON = 58;
const isOpeningBracket = (code: number): boolean => code === 123 || code === 40; // { (
const isClosingBracket = (code: number): boolean => code === 125 || code === 41; // } )

const TARGET_LIST = ":targetList (";

// `{TARGETENTRY :expr {VAR …} :resno 2 :resname vessel\ id :ressortgroupref 0 :resorigtbl 16401 :resorigcol 1 :resjunk
// false}`
const ENTRY_END =
  / :resno (\d+) :resname (?:\\[^]|[^\s\\])+ :ressortgroupref \d+ :resorigtbl (\d+) :resorigcol (-?\d+) :resjunk (true|false)\}/y;

/** Reads the target list of a view's rule from the text of `pg_rewrite.ev_action`. PostgreSQL traces `resorigtbl` and
 *  `resorigcol` through joins, subqueries and CTEs. They are 0 for expressions and set operations. Only the outermost
 *  query counts, so the brackets are counted. Brackets inside names are escaped with a backslash. @rule R-REL-4 */
export const parseOrigins = (action: string): Origins => {
  const origins = new Map<number, ColumnOrigin>();
  const list = findTargetList(action);
  if (list === -1) return origins;
  let depth = 0;
  for (let i = list; i < action.length; i++) {
    const code = action.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (isOpeningBracket(code)) depth++;
    else if (isClosingBracket(code)) {
      depth--;
      if (depth < 0) break;
      if (depth !== 1) continue;
      // A closing bracket inside an entry ends its expression, and the rest of the entry follows.
      ENTRY_END.lastIndex = i + 1;
      const [, position, relation, column, junk] = ENTRY_END.exec(action) ?? [];
      if (Number(relation) > 0 && Number(column) > 0 && junk === "false") {
        origins.set(Number(position), { relation: Number(relation), position: Number(column) });
      }
    }
  }
  return origins;
};

/** Returns the index after the `(` of the outermost query's target list, or -1 without a target list. */
const findTargetList = (action: string): number => {
  let depth = 0;
  for (let i = 0; i < action.length; i++) {
    const code = action.charCodeAt(i);
    if (code === BACKSLASH) i++;
    else if (isOpeningBracket(code)) depth++;
    else if (isClosingBracket(code)) depth--;
    else if (code === COLON && depth === 2 && action.startsWith(TARGET_LIST, i)) return i + TARGET_LIST.length;
  }
  return -1;
};

/** Traces origins that are columns of views down to columns of tables. `views` has the direct origins of every view
 *  that may be traced. A trace ends at a relation for which `isTable` is true. If it ends elsewhere (hidden views) or
 *  in a cycle, the column has no origin. @rule R-REL-4 */
export const traceViews = (
  views: ReadonlyMap<number, Origins>,
  isTable: (oid: number) => boolean,
): ReadonlyMap<number, Origins> => {
  const originsByView = new Map<number, Origins>();
  const pendingViews = new Set<number>();
  const trace = (view: number): Origins => {
    const tracedOrigins = originsByView.get(view);
    if (tracedOrigins !== undefined) return tracedOrigins;
    const origins = new Map<number, ColumnOrigin>();
    if (pendingViews.has(view)) return origins;
    pendingViews.add(view);
    for (const [position, origin] of views.get(view) ?? []) {
      const base = isTable(origin.relation) ? origin : trace(origin.relation).get(origin.position);
      if (base !== undefined) origins.set(position, base);
    }
    pendingViews.delete(view);
    originsByView.set(view, origins);
    return origins;
  };
  for (const view of views.keys()) trace(view);
  return originsByView;
};

/** Returns the attribute numbers of a view's primary key: the keys of all tables whose whole key the view shows. Tables
 *  are in the order of their first column in the view. A key column that is shown twice counts at its first position.
 *  @rule R-REL-5 R-REL-7 */
export const deriveViewKey = (
  origins: Origins,
  findPrimaryKey: (table: number) => readonly number[],
): readonly number[] => {
  const viewColumns = new Map<number, Map<number, number>>();
  for (const position of [...origins.keys()].sort((a, b) => a - b)) {
    const { relation, position: column } = origins.get(position)!; // the position is a key of the map
    const columns = viewColumns.get(relation) ?? new Map<number, number>();
    if (!columns.has(column)) columns.set(column, position);
    viewColumns.set(relation, columns);
  }
  return [...viewColumns].flatMap(([table, columns]) => {
    const key = findPrimaryKey(table);
    // The call of `every` has checked the columns.
    return key.every((column) => columns.has(column)) ? key.map((column) => columns.get(column)!) : [];
  });
};
