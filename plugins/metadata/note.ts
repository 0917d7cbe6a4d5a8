/** What is left out of the metadata, said where it is found. */
import type { MetadataProblem } from "./api.ts";

/** Says what is left out, and of which object where that is known. */
export type Note = (message: string, of?: Omit<MetadataProblem, "reason">) => void;
