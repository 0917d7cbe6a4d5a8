/** `JWT_SECRET=@/run/secrets/jwt`: reads secrets from files, and follows changes of the files while the server runs. */
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import {
  definePlugin,
  presetError,
  Stage,
  type Plugin,
  type RelApiOptions,
  type Setting,
  type HealthProblems,
} from "../../core/index.ts";

export interface SecretFile {
  readonly setting: Setting;
  /** The variable that names the file. */
  readonly variable: string;
  readonly path: string;
}

/** Returns the content of the file without a final line feed. @throws RelApiError `preset` @rule C-SET-6 */
export const readSecretFile = ({ variable, path }: SecretFile): string => {
  let text: string;
  try {
    text = readFileSync(path, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw presetError(`${variable} names the file "${path}", which cannot be read: ${(error as Error).message}`);
  }
  if (text === "") throw presetError(`${variable} names the file "${path}", which is empty`);
  return text;
};

/**
 * The interval at which files are checked. Mounted secrets are symbolic links that are replaced, which only polling
 * detects.
 */
const CHECK_MS = 1000;
const PROBLEM_NAME = "secret files";

interface SecretFiles {
  readonly options: Pick<RelApiOptions, "freshUrl">;
  readonly plugin: Plugin;
}

/** Reads and parses the value of a file. @throws RelApiError `preset` */
const loadValue = (file: SecretFile): unknown => {
  const { kind } = file.setting;
  const value = kind.parse(readSecretFile(file));
  if (value === undefined)
    throw presetError(`${file.variable} names the file "${file.path}", which does not contain ${kind.accepts}`);
  return value;
};

const countValues = (value: unknown): number => (Array.isArray(value) ? value.length : 1);

/** Follows the files. A file that becomes unreadable leaves its secret unchanged. @rule C-SET-8 */
export const followSecretFiles = (files: readonly SecretFile[]): SecretFiles => {
  /** The last valid value by option, at first the value of the start. */
  const knownSecrets = new Map<string, unknown>(files.map((file) => [file.setting.name, loadValue(file)]));
  let healthProblems: HealthProblems | undefined;

  /**
   * Rejects a changed number of values, because the pools were created for the number at the start. @throws RelApiError
   * `preset`
   */
  const checkCount = ({ setting, variable, path }: SecretFile, value: unknown): void => {
    const [startCount, newCount] = [knownSecrets.get(setting.name), value].map(countValues);
    if (setting.isFixed === true && startCount !== newCount)
      throw presetError(
        `${variable} names the file "${path}", which contains ${newCount} connection strings instead of ${startCount} as at the start: restart the server to change their number`,
      );
  };

  const read = (file: SecretFile): unknown => {
    const subject = `${PROBLEM_NAME}: ${file.variable}`;
    try {
      const value = loadValue(file);
      checkCount(file, value);
      knownSecrets.set(file.setting.name, value);
      healthProblems?.set(subject, undefined);
    } catch (error) {
      healthProblems?.set(subject, `${(error as Error).message}; keeping the previous one`);
    }
    return knownSecrets.get(file.setting.name);
  };

  const connectionFiles = files.filter(({ setting }) => setting.isFixed === true);
  const optionFiles = files.filter(({ setting }) => setting.isFixed !== true);
  return {
    options: {
      freshUrl: (option, index = 0) => {
        const file = connectionFiles.find(({ setting }) => setting.name === option);
        if (file === undefined) return undefined;
        const value = read(file) as string | readonly string[]; // the kinds of connection strings parse to these types
        return typeof value === "string" ? value : value[index];
      },
    },
    plugin: definePlugin({
      name: "secret-files",
      stage: Stage.early, // settings stored in the database take precedence
      apply: (_, context) => {
        ({ healthProblems } = context);
        if (optionFiles.length > 0)
          context.addOptionSource({
            name: "secret files",
            read: async () =>
              Object.fromEntries(
                optionFiles.flatMap((file) => {
                  const value = read(file);
                  return value === undefined ? [] : [[file.setting.name, value]];
                }),
              ),
          });
        const handleChange = (): void => {
          context.logger.info("the file of a secret has changed");
          // Errors and recoveries are reported at once, not when a connection or a reload uses the secret.
          for (const file of files) read(file);
          context.requestReload();
        };
        for (const { path } of files) watchFile(path, { interval: CHECK_MS, persistent: false }, handleChange);
        context.onClose(() => {
          for (const { path } of files) unwatchFile(path, handleChange);
        });
      },
    }),
  };
};
