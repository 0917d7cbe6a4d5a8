/** Plugins that reduce the cost of a response and do not change its content. */
export { coalescedReads } from "./coalesced-reads/index.ts";
export { columnArrays } from "./column-arrays/index.ts";
export { planProof } from "./plan-proof.ts";
export { streamedAnswers } from "./streamed-answers/index.ts";
