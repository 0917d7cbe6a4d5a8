/** Reads the values of settings from strings and checks them as options. */
import { presetError, type RelApiError } from "../kernel/errors.ts";

/** A kind of setting value. */
export interface SettingKind<Value = unknown> {
  /** Describes valid values in messages: `a whole number`. */
  readonly accepts: string;
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined;
  /** The check of the value as an option of a preset. By default, the option is a text that `parse` accepts. */
  readonly option?: { readonly accepts: string; readonly isValid: (value: unknown) => boolean };
}

const isStringList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const text: SettingKind<string> = { accepts: "any text", parse: (value) => value };

/** A JSON document, which may also be given parsed as an option. */
const document: SettingKind<string | Readonly<Record<string, unknown>>> = {
  ...text,
  option: {
    accepts: "a string or an object",
    isValid: (value) => typeof value === "string" || (typeof value === "object" && value !== null),
  },
};

const TRUE_WORDS = ["true", "yes", "on", "t", "y", "1"];
const FALSE_WORDS = ["false", "no", "off", "f", "n", "0"];

const flag: SettingKind<boolean> = {
  accepts: "true or false",
  parse: (value) => {
    const word = value.trim().toLowerCase();
    return TRUE_WORDS.includes(word) ? true : FALSE_WORDS.includes(word) ? false : undefined;
  },
  option: { accepts: "true or false", isValid: (value) => typeof value === "boolean" },
};

/** Accepts whole numbers in a range that includes both ends. */
const wholeNumber = (from: number, to = Number.MAX_SAFE_INTEGER): SettingKind<number> => ({
  accepts:
    to === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${from}` : `a whole number from ${from} to ${to}`,
  parse: (value) => {
    const number = /^\s*[0-9]{1,15}\s*$/.test(value) ? Number(value) : -1;
    return number >= from && number <= to ? number : undefined;
  },
  option: {
    accepts: from > 0 ? "a positive number" : "a non-negative number",
    isValid: (value) => typeof value === "number" && value <= to && (from > 0 ? value > 0 : value >= 0),
  },
});

const commaList = (accepts: string): SettingKind<readonly string[]> => ({
  accepts: `${accepts}, separated by commas`,
  parse: (value) =>
    value
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  option: { accepts: `a list of ${accepts}`, isValid: isStringList },
});

const choice = <const Word extends string>(
  words: readonly Word[],
  aliases: Readonly<Record<string, Word>> = {},
): SettingKind<Word> => ({
  accepts: `one of ${words.join(", ")}`,
  parse: (value) => {
    const word = value.trim().toLowerCase();
    return words.find((acceptedWord) => acceptedWord === word) ?? aliases[word];
  },
});

const textList: SettingKind<readonly string[]> = {
  accepts: 'a JSON list of strings, ["a", "b"]',
  parse: (value) => {
    try {
      const list: unknown = JSON.parse(value);
      return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : undefined;
    } catch {
      return undefined;
    }
  },
  option: { accepts: "a list of strings", isValid: isStringList },
};

const databaseUrl: SettingKind<string> = {
  accepts: "a connection string, postgres://user:password@host:5432/database or host=... dbname=...",
  parse: (value) => (/^\s*(postgres(ql)?:\/\/|[a-z_]+\s*=)/i.test(value) ? value.trim() : undefined),
};

/** Matches a comma between connection strings, but not between the hosts of one: `postgres://one,two/shop,host=three
 *  dbname=shop`. */
const NEXT_URL = /,(?=\s*(?:postgres(?:ql)?:\/\/|[a-z_]+\s*=|$))/i;

const databaseUrls: SettingKind<readonly string[]> = {
  accepts: "connection strings, separated by commas",
  parse: (value) => {
    const urls = value.split(NEXT_URL).map((url) => databaseUrl.parse(url));
    return urls.every((url) => url !== undefined) ? urls : undefined;
  },
  option: {
    accepts: "a list of connection strings",
    isValid: (value) =>
      isStringList(value) && (value as readonly string[]).every((url) => databaseUrl.parse(url) !== undefined),
  },
};

const httpUrl: SettingKind<string> = {
  accepts: "an http or https URL",
  parse: (value) => (/^https?:\/\/\S+$/.test(value.trim()) ? value.trim() : undefined),
};

const headerName: SettingKind<string> = {
  accepts: "a header name",
  parse: (value) => (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(value.trim()) ? value.trim() : undefined),
};

/** The kinds of setting values, for declarations. */
export const settingKinds = {
  text,
  document,
  flag,
  wholeNumber,
  listOf: commaList,
  textList,
  oneOf: choice,
  databaseUrl,
  databaseUrls,
  httpUrl,
  headerName,
};

/** Returns an error of one line: the setting, its value unless it is a secret, and the expected values. */
const settingInvalid = (name: string, value: unknown, accepts: string, isSecret: boolean): RelApiError =>
  presetError(`invalid ${name}${isSecret ? "" : ` ${JSON.stringify(value)}`}: expected ${accepts}`);

/** Returns the value that the text of a setting represents. @throws RelApiError `preset` */
export const parseSetting = (name: string, text: string, kind: SettingKind, isSecret = false): unknown => {
  const value = kind.parse(text);
  if (value === undefined) throw settingInvalid(name, text, kind.accepts, isSecret);
  return value;
};

/** Checks the value of an option. @throws RelApiError `preset` if the value is not of its kind */
export const checkKind = (name: string, value: unknown, kind: SettingKind, isSecret = false): void => {
  const { accepts, isValid } = kind.option ?? {
    accepts: kind.accepts,
    isValid: (optionValue: unknown) => typeof optionValue === "string" && kind.parse(optionValue) !== undefined,
  };
  if (!isValid(value)) throw settingInvalid(name, value, accepts, isSecret);
};
