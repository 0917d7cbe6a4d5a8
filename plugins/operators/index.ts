/** Filter operators, aggregate functions, update operators and embedding modes. */
export { aggregateFunctions } from "./aggregates.ts";
export { arrayRangeOperators } from "./array-range.ts";
export { comparisonOperators } from "./comparison.ts";
export { aggregateEmbeds } from "./embeds/aggregate.ts";
export { nestEmbeds } from "./embeds/nest.ts";
export { spreadEmbeds } from "./embeds/spread.ts";
export { fullTextOperators } from "./full-text.ts";
export { geoOperators } from "./geo.ts";
export { jsonOperators } from "./json.ts";
export { ltreeOperators } from "./ltree.ts";
export { setOperator } from "./set.ts";
export { textOperators } from "./text.ts";
export { documentOperators, incOperator } from "./update.ts";
