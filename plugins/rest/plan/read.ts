/** Plans GET and HEAD requests. */
import type { BoundValue } from "../../../core/index.ts";
import { percentEncode, encodeContentLocation } from "../answer/headers.ts";
import type { SlotPositions, PlannedRead } from "../request.ts";
import { checkPreferences } from "../syntax/prefer.ts";
import { removeWindow } from "../syntax/range.ts";
import { findSlotPositions, splitAtMarks } from "../syntax/parameters.ts";
import { chooseMedia, buildHeadEnvelope } from "./media.ts";
import type { PlanInput } from "./planning.ts";
import { applyPreferences } from "./preferences.ts";
import { resolveRead } from "./resolve-select.ts";

/** Plans a read. Checks are made in the order of R-PIPE-1 steps 10 and 10a. @throws RelApiError */
export const planRead = (planInput: PlanInput): PlannedRead => {
  const { rest, model, relation, schema, name, query, hasMarks, window } = planInput;
  const { count } = planInput.preferences;
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
  const media = chooseMedia(planInput, { relation, isWholeRow });
  checkPreferences(planInput.preferences);
  const { plan, appliedPreferences } = applyPreferences(planInput, read);
  const boundValues = removeWindow(values, window);
  const location = encodeContentLocation(name, query.pairs);
  return {
    plan,
    envelope: {
      ...(planInput.method === "HEAD" ? buildHeadEnvelope(media) : media.envelope),
      count,
      countCap: count === "estimated" ? rest.context.options.dbMaxRows : undefined,
    },
    values: boundValues,
    slotPositions: hasMarks ? findSlotPositions(boundValues) : NO_SLOTS,
    media,
    location: hasMarks ? splitAtMarks(location, percentEncode) : [location],
    appliedPreferences,
    legacyNames,
  };
};

const NO_SLOTS: SlotPositions = [];
