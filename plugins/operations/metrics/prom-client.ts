/** Loads the optional package `prom-client`, which only a preset with metrics needs. */
import { requirePackage } from "../../../core/index.ts";

export type PromClient = typeof import("prom-client");

/** Returns the package, or undefined if it is not installed. */
export const loadPromClient = (): PromClient | undefined => {
  try {
    return requirePackage("prom-client") as PromClient;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    return undefined;
  }
};
