/** Which columns of the written rows the result needs: RETURNING names only these, so that a caller without SELECT on
 *  the others may write. */
import { columnOf, relationshipOf, type Relation } from "../model/model.ts";
import { systemColumnType } from "../model/system-columns.ts";
import type { Expression, OrderBy, Output, Predicate, Read } from "../plan/plan.ts";

/** Names in the order met; undefined: the whole row. @rule R-WRT-4 */
export const neededColumns = (relation: Relation, read: Read): readonly string[] | undefined => {
  const names = new Set<string>();
  let isWholeRow = false;
  const expression = (value: Expression): void => {
    switch (value.kind) {
      case "aggregate":
        value.of.forEach(expression);
        return;
      case "column":
        // an unknown name is refused where the row is read
        if (columnOf(relation, value.name) !== undefined || systemColumnType(relation, value.name) !== undefined)
          names.add(value.name);
        return;
      case "apply":
        for (const operand of value.operands ?? []) if ("expression" in operand) expression(operand.expression);
        expression(value.of);
        return;
      case "cast":
      case "ordering":
        expression(value.of);
        return;
      case "masked":
        expression(value.of);
        predicate(value.when);
        return;
      case "computed":
      case "computed-aggregate":
        isWholeRow = true;
        return;
      case "related":
      case "related-aggregate":
        relationship(value.relationship);
        return;
      case "embedded":
      case "output":
        return;
    }
  };
  const relationship = (id: string): void => {
    const found = relationshipOf(relation, id);
    if (found === undefined || found.routine !== undefined) isWholeRow = true;
    else for (const [source] of [...found.columns, ...(found.junction?.source ?? [])]) names.add(source);
  };
  const predicate = (condition: Predicate | undefined): void => {
    if (condition === undefined) return;
    if (condition.kind === "and" || condition.kind === "or") {
      // finding the columns that conditions on other rows use is not worth it
      if (condition.isRoot === true) isWholeRow = true;
      condition.of.forEach(predicate);
    } else if (condition.kind === "not") predicate(condition.of);
    else if (condition.kind === "compare") {
      expression(condition.left);
      if (condition.operand !== undefined && "expression" in condition.operand)
        expression(condition.operand.expression);
    } else if (condition.kind === "related") relationship(condition.relationship);
    else if (condition.kind === "beyond") condition.order.forEach(({ by }) => expression(by));
    else if (condition.kind === "computed-rows") isWholeRow = true;
    else if (condition.kind === "written") for (const [own] of condition.columns) names.add(own);
    else if (condition.kind === "keys") for (const name of condition.columns) names.add(name);
  };
  const output = (one: Output): void => {
    if (one.kind === "all") isWholeRow = true;
    else if (one.kind === "value") expression(one.value);
    else if (one.kind === "aggregate") (one.of ?? []).forEach(expression);
    else if (one.kind === "object" || one.kind === "nodes") one.of.forEach(output);
    else if (one.kind === "embed") {
      if ("relationship" in one.via) relationship(one.via.relationship);
      else isWholeRow = true;
    }
  };
  const order = (term: OrderBy): void => expression(term.by);
  read.output.forEach(output);
  (read.orderBy ?? []).forEach(order);
  (read.distinctOn ?? []).forEach(expression);
  predicate(read.where);
  return isWholeRow ? undefined : [...names];
};
