/** Fields that a plugin plans itself. */
import type { Json, Output, Relation } from "../../../core/index.ts";
import { leafOf } from "../coerce/leaf.ts";
import { checkPlain, checkVariable } from "./input.ts";
import { bind, type Planner } from "./planner.ts";
import { eachArgument, subselection, type Selected } from "./selection.ts";
import type { GqlPart } from "../parts.ts";

export const planCustom = (
  planner: Planner,
  selected: Selected,
  part: Extract<GqlPart, { readonly kind: "custom" }>,
  relation: Relation | undefined,
): Output => {
  const given: [string, Json][] = [];
  eachArgument(planner, selected, ({ name, input, place, path }) => {
    if (input.kind === "held") return;
    if (input.node.kind === "Variable") checkVariable(planner, input.node.name.value, place, path);
    checkPlain(planner, input, place, path);
    // the plugin sees the value, so that it may decide what the plan looks like
    const value = leafOf(
      input.node,
      (variable) => {
        const held = planner.variables.open(variable);
        return held === undefined ? null : "literal" in held ? leafOf(held.literal, () => null) : held.value();
      },
      true,
    );
    given.push([name, value]);
  });
  subselection(selected);
  return part.output(
    { as: selected.as, node: selected.node, arguments: Object.fromEntries(given) },
    { schema: planner.schema, relation, bind: (bound) => ({ param: bind(planner, { fixed: bound }) }) },
  );
};
