/** Logs parts of the metadata that are ignored, with their location. */
import type { MetadataProblem } from "./api.ts";

/** Reports an ignored part, and its object if that is known. */
export type LogIgnored = (message: string, object?: Omit<MetadataProblem, "reason">) => void;
