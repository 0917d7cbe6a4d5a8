/** Corrects the backend's protocol messages for the client. */

export const IDLE_STATUS = 0x49; // "I", the status in a ReadyForQuery outside a transaction

const READY_FOR_QUERY = 0x5a;
const NOTIFICATION = 0x41;

/** The backend's response to one group of messages. */
interface GroupResponse {
  /** The end of the response after surplus messages were removed. */
  readonly end: number;
  /** The transaction status of the last ReadyForQuery. Undefined without a ReadyForQuery. */
  readonly status: number | undefined;
  /** Copies of its NotificationResponses. */
  readonly notifications: readonly Uint8Array[];
}

/** Corrects the response to one group in place: one ReadyForQuery for a synced group, and none for a flushed one. Some
 *  releases of PGlite send one after an error and another after the Sync; a client would count them as two responses.
 *  The response is in `bytes` between `start` and `end`. */
export function correctResponse(bytes: Uint8Array, start: number, end: number, isSynced: boolean): GroupResponse {
  const view = new DataView(bytes.buffer, bytes.byteOffset, end);
  const notifications: Uint8Array[] = [];
  let status: number | undefined;
  let readOffset = start;
  let writeOffset = start;
  let readyAt = -1;
  while (readOffset < end) {
    const messageBytes = view.getInt32(readOffset + 1) + 1;
    const messageType = bytes[readOffset];
    if (messageType === READY_FOR_QUERY) {
      status = bytes[readOffset + 5];
      if (readyAt >= 0) {
        bytes.copyWithin(readyAt, readyAt + messageBytes, writeOffset);
        writeOffset -= messageBytes;
      }
      readyAt = writeOffset;
    } else if (messageType === NOTIFICATION) {
      notifications.push(bytes.slice(readOffset, readOffset + messageBytes));
    }
    if (writeOffset !== readOffset) bytes.copyWithin(writeOffset, readOffset, readOffset + messageBytes);
    readOffset += messageBytes;
    writeOffset += messageBytes;
  }
  if (!isSynced && readyAt >= 0) {
    bytes.copyWithin(readyAt, readyAt + 6, writeOffset);
    writeOffset -= 6;
  }
  return { end: writeOffset, status, notifications };
}
