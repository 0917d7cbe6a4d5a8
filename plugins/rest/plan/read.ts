/** Plans of GET and HEAD. */
import type { BoundValue } from "../../../core/index.ts";
import { encode, encodeContentLocation } from "../answer/headers.ts";
import type { PlannedRequest, RestRequest } from "../request.ts";
import { checkPreferences } from "../syntax/prefer.ts";
import { windowValues, withoutWindow } from "../syntax/range.ts";
import { fillHoles, holesOf, splitAtMarks } from "../syntax/parameters.ts";
import { chooseMedia, headOf } from "./media.ts";
import type { Planning } from "./planning.ts";
import { applyPreferences } from "./preferences.ts";
import { resolveRead } from "./rows.ts";

/** A read ready to run, shared by equal requests. */
export interface PlannedRead extends PlannedRequest {
  /** Those of the filters and paths of one request, then those of its root's limit and offset. */
  readonly valuesOf: (request: RestRequest) => readonly BoundValue[];
  readonly contentLocation: (values: readonly string[]) => string;
}

/** Checks in the order of R-PIPE-1 steps 10 and 10a. @throws RelApiError */
export const planRead = (planning: Planning): PlannedRead => {
  const { rest, model, relation, schema, name, query, hasMarks, window } = planning;
  const { count } = planning.preferences;
  const values: BoundValue[] = [];
  const { read, isWholeRow, legacyNames } = resolveRead({
    rest,
    model,
    schema,
    query,
    from: { relation: { schema: relation.schema, name: relation.name } },
    relation,
    name,
    hasRootFilters: true,
    window,
    values,
  });
  const media = chooseMedia(planning, { relation, isWholeRow });
  checkPreferences(planning.preferences);
  const { plan, applied } = applyPreferences(planning, read);
  const location = encodeContentLocation(name, query.pairs);
  return {
    plan,
    envelope: {
      ...(planning.method === "HEAD" ? headOf(media) : media.envelope),
      count,
      countCap: count === "estimated" ? rest.context.options.dbMaxRows : undefined,
    },
    valuesOf: valuesWith(withoutWindow(values, window), hasMarks),
    media,
    contentLocation: hasMarks ? splitAtMarks(location, encode) : () => location,
    applied,
    legacyNames,
  };
};

const valuesWith = (planned: readonly BoundValue[], hasMarks: boolean): PlannedRead["valuesOf"] => {
  const holes = hasMarks ? holesOf(planned) : [];
  return ({ filterValues, range }) => {
    const filled = fillHoles(planned, holes, filterValues);
    const window = windowValues(range);
    return window.length === 0 ? filled : [...filled, ...window];
  };
};
