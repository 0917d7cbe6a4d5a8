/** `update_artist_by_pk(pk_columns: { id: 1 }, _related: { albums: { insert: { data: [{ title: "x" }] }, delete: {
 *  sold: { _is_null: true } } } }) { name }`: writes related rows. */
import { definePlugin } from "../../../core/index.ts";
import { addRelatedWrites } from "./input-types.ts";

/** Writes related rows together with an update. @rule P-NST-1 … P-NST-9 @experimental */
export const nestedWrites = definePlugin({
  name: "nested-writes",
  requires: ["graphql-inserts", "graphql-updates", "graphql-deletes", "comparison-operators", "set-operator"],
  apply: (hooks) => hooks.buildGqlField.tap("nested-writes", addRelatedWrites),
});
