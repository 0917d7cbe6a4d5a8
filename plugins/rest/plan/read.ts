/** Plans GET and HEAD requests. */
import type { BoundValue } from "../../../core/index.ts";
import { percentEncode, encodeContentLocation } from "../answer/headers.ts";
import type { SlotPositions, PlannedRead } from "../request.ts";
import { checkPreferences } from "../syntax/prefer.ts";
import { withoutWindow } from "../syntax/range.ts";
import { slotPositions, splitAtMarks } from "../syntax/parameters.ts";
import { chooseMedia, headOf } from "./media.ts";
import type { Planning } from "./planning.ts";
import { applyPreferences } from "./preferences.ts";
import { resolveRead } from "./resolve-select.ts";

/** Plans a read. Checks are made in the order of R-PIPE-1 steps 10 and 10a. @throws RelApiError */
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
  const bound = withoutWindow(values, window);
  const location = encodeContentLocation(name, query.pairs);
  return {
    plan,
    envelope: {
      ...(planning.method === "HEAD" ? headOf(media) : media.envelope),
      count,
      countCap: count === "estimated" ? rest.context.options.dbMaxRows : undefined,
    },
    values: bound,
    slots: hasMarks ? slotPositions(bound) : NO_SLOTS,
    media,
    location: hasMarks ? splitAtMarks(location, percentEncode) : [location],
    applied,
    legacyNames,
  };
};

const NO_SLOTS: SlotPositions = [];
