/** Append-only bytes with positions, which hold the journal and the pages of a crawl. */

/** An open log. */
export interface OpenLog {
  /**
   * Appends at the end of the log, `at`. A file is written at once; other logs may keep the bytes of pages until the
   * journal is written, and write both together.
   */
  append(bytes: Buffer, at: number): void | Promise<void>
  /** Returns at most `length` bytes from `at` on, fewer at the end of the log. */
  read(at: number, length: number): Promise<Buffer>
  close(): Promise<void>
}

/** A log where it is stored: a file, or a part of Redis. */
export interface CrawlLog {
  /** Creates the log, which does not exist yet. */
  create(): Promise<OpenLog>
  /** Opens the log to continue it, truncated to `bytes`; creates it if it is missing. */
  reopen(bytes: number): Promise<OpenLog>
  /** Opens the log for reading. @throws an error with the code `ENOENT` if it is missing */
  open(): Promise<OpenLog>
}

/** The logs of one crawl. */
export interface CrawlLogs {
  readonly journal: CrawlLog
  readonly pages: CrawlLog
}
