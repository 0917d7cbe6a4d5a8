/** Loads optional peer dependencies. */
import { explainMissingPackage, importPackage } from "../../../core/index.ts";

/** Loads a package when the plugin opens its connection, so the start does not depend on it. Callers log the error and
 *  continue without the bus. @throws RelApiError with the command that installs the package */
export const loadPackage = async (name: string, plugin: string): Promise<unknown> => {
  try {
    return await importPackage(name);
  } catch (error) {
    throw explainMissingPackage(error, plugin, name);
  }
};
