/** Loads optional peer dependencies. */
import { importPackage, presetError } from "../../../core/index.ts";

/** Loads a package when the connection is opened, so the start does not depend on it. Callers log the error and continue
 *  without the bus. @throws RelApiError with the command that installs the package */
export const loadPackage = async (name: string): Promise<unknown> => {
  try {
    return await importPackage(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw error;
    throw presetError(`the package ${name} is missing: npm install ${name}`);
  }
};
