/** Loads the optional package `prom-client`, which only a preset with metrics needs. */
import { RelApiError, requirePackage, type Logger } from "../../../core/index.ts";

export type PromClient = typeof import("prom-client");

/** Returns undefined if the package is not installed, and logs how to install it. @rule X-MET-1a */
export const loadPromClient = (logger: Logger): PromClient | undefined => {
  try {
    return requirePackage("prom-client", "metrics") as PromClient;
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    logger.warn(`there is no /metrics: ${error.message}`);
    return undefined;
  }
};
