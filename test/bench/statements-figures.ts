/** Numbers of runs, and plans in a few words. */

export interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Actual Loops"?: number;
  readonly Plans?: readonly PlanNode[];
}

export const quantile = (numbers: readonly number[], share: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? Number.NaN;

export const median = (numbers: readonly number[]): number => quantile(numbers, 0.5);

export const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** `Limit, Index Scan customer_pkey ×20` */
export const summaryOf = (node: PlanNode): string => {
  const parts: string[] = [];
  const visit = (one: PlanNode): void => {
    const at = one["Index Name"] ?? one["Relation Name"];
    const loops = one["Actual Loops"] ?? 1;
    parts.push(`${one["Node Type"]}${at === undefined ? "" : ` ${at}`}${loops > 1 ? ` ×${loops}` : ""}`);
    one.Plans?.forEach(visit);
  };
  visit(node);
  return parts.join(", ");
};
