/** Finds encryption and host settings in a connection string with which every connection would fail. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";

const WORDS: readonly (readonly [parameter: string, known: readonly string[]])[] = [
  ["sslmode", ["disable", "allow", "prefer", "require", "verify-ca", "verify-full", "no-verify"]],
  ["target_session_attrs", ["any", "read-write", "read-only", "primary", "standby", "prefer-standby"]],
  ["load_balance_hosts", ["disable", "random"]],
];

const isCertificate = (pem: string): boolean => {
  const [, ...parts] = pem.split("-----BEGIN ");
  const certificates = parts.filter((part) => /^(?:TRUSTED |X509 )?CERTIFICATE-----/.test(part));
  return (
    certificates.length > 0 && certificates.every((part) => isReadable(() => new X509Certificate(`-----BEGIN ${part}`)))
  );
};

/** Whether the text is a private key. One with a password counts, because it cannot be read without it. */
const isKey = (pem: string): boolean => /ENCRYPTED/.test(pem) || isReadable(() => createPrivateKey(pem));

const isReadable = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

const FILES: readonly (readonly [parameter: string, holds: string, test: (pem: string) => boolean])[] = [
  ["sslrootcert", "a PEM certificate", isCertificate],
  ["sslcert", "a PEM certificate", isCertificate],
  ["sslkey", "a PEM key", isKey],
];

/** Checks a URL or a string such as `host=… sslmode=…`, which comes from `variable`. @rule C-SET-3 */
export const encryptionFaults = (variable: string, url: string): readonly string[] => {
  const isUrl = /^\w+:\/\//.test(url);
  const given = (name: string): string | undefined => {
    const found = new RegExp(`(?:[?&]|^|\\s)${name}\\s*=\\s*(?:'([^']*)'|([^&\\s']+))`).exec(url);
    const text = found?.[1] ?? found?.[2];
    return text === undefined || !isUrl ? text : decodeURIComponent(text);
  };
  const files = FILES.flatMap(([parameter, holds, test]) => {
    const file = given(parameter) ?? "";
    if (file === "" || file === "system") return [];
    try {
      if (test(readFileSync(file, "utf8"))) return [];
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT"
        ? [`${variable} names the file "${file}" (${parameter}), which does not exist`]
        : [`${variable} names the file "${file}" (${parameter}), which cannot be read: ${(error as Error).message}`];
    }
    return [`${variable} names the file "${file}" (${parameter}), which does not hold ${holds}`];
  });
  const words = WORDS.flatMap(([parameter, known]) => {
    const word = given(parameter);
    return word === undefined || known.includes(word)
      ? []
      : [`${variable} has ${parameter}=${word}: expected one of ${known.join(", ")}`];
  });
  return [...words, ...files];
};
