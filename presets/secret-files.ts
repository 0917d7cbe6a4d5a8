/** `JWT_SECRET=@/run/secrets/jwt`: secrets that stand in files, and follow them while the server runs. */
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import {
  definePlugin,
  presetError,
  Stage,
  type Plugin,
  type RelApiOptions,
  type SettingSpec,
  type Troubles,
} from "../core/index.ts";

export interface SecretFile {
  readonly setting: SettingSpec<unknown>;
  /** The variable that names it. */
  readonly variable: string;
  readonly path: string;
}

/** What it holds, without a line feed at its end. @throws RelApiError `preset` @rule C-SET-6 */
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

/** Secrets are mounted as links that are replaced, which only looking again and again sees. */
const LOOK_MS = 1000;
const ABOUT = "secret files";

export interface SecretFiles {
  readonly options: Pick<RelApiOptions, "freshUrl">;
  readonly plugin: Plugin;
}

/** @throws RelApiError `preset` */
const valueOf = (file: SecretFile): unknown => {
  const { kind } = file.setting;
  const value = kind.read(readSecretFile(file));
  if (value === undefined)
    throw presetError(`${file.variable} names the file "${file.path}", which does not hold ${kind.accepts}`);
  return value;
};

const countOf = (value: unknown): number => (Array.isArray(value) ? value.length : 1);

/** What cannot be read leaves the secret as it was. @rule C-SET-8 */
export const followSecretFiles = (files: readonly SecretFile[]): SecretFiles => {
  /** By option, the last that was good: first those of the start. */
  const known = new Map<string, unknown>(files.map((file) => [file.setting.name, valueOf(file)]));
  let troubles: Troubles | undefined;

  /** Whoever connects has been told at the start how many there are. @throws RelApiError `preset` */
  const checkCount = ({ setting, variable, path }: SecretFile, value: unknown): void => {
    const [before, now] = [known.get(setting.name), value].map(countOf);
    if (setting.isFixed === true && before !== now)
      throw presetError(
        `${variable} names the file "${path}", which holds ${now} connection strings, not ${before} as at the start: restart to change their number`,
      );
  };

  const read = (file: SecretFile): unknown => {
    const about = `${ABOUT}: ${file.variable}`;
    try {
      const value = valueOf(file);
      checkCount(file, value);
      known.set(file.setting.name, value);
      troubles?.set(about, undefined);
    } catch (error) {
      troubles?.set(about, `${(error as Error).message}; keeping the previous one`);
    }
    return known.get(file.setting.name);
  };

  const ofConnections = files.filter(({ setting }) => setting.isFixed === true);
  const others = files.filter(({ setting }) => setting.isFixed !== true);
  return {
    options: {
      freshUrl: (option, index = 0) => {
        const file = ofConnections.find(({ setting }) => setting.name === option);
        if (file === undefined) return undefined;
        const value = read(file) as string | readonly string[]; // the kinds of connection strings
        return typeof value === "string" ? value : value[index];
      },
    },
    plugin: definePlugin({
      name: "secret-files",
      stage: Stage.early, // settings that the database keeps go before them
      apply: (_, context) => {
        ({ troubles } = context);
        if (others.length > 0)
          context.addOptionSource({
            name: "secret files",
            read: async () =>
              Object.fromEntries(
                others.flatMap((file) => {
                  const value = read(file);
                  return value === undefined ? [] : [[file.setting.name, value]];
                }),
              ),
          });
        const changed = (): void => {
          context.logger.info("a secret file has changed");
          // what is wrong with one, and what no longer is, is told at once, not when a connection or the reload needs it
          for (const file of files) read(file);
          context.requestReload();
        };
        for (const { path } of files) watchFile(path, { interval: LOOK_MS, persistent: false }, changed);
        context.onClose(() => {
          for (const { path } of files) unwatchFile(path, changed);
        });
      },
    }),
  };
};
