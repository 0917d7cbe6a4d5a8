import { createFieldsLogger, type Logger } from "../../core/index.ts";

type Write = (message: string, fields: object) => unknown;

/** A logger that takes the message first: winston, log4js, `console`. */
interface MessageFirst {
  readonly error: Write;
  readonly warn: Write;
  readonly info: Write;
  readonly debug: Write;
}

export const messageFirstLogger = (target: MessageFirst): Logger =>
  createFieldsLogger({
    error: (fields, message) => void target.error(message, fields),
    warn: (fields, message) => void target.warn(message, fields),
    info: (fields, message) => void target.info(message, fields),
    debug: (fields, message) => void target.debug(message, fields),
  });
