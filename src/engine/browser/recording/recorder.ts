/** One recording of a session, of any kind. */
export interface Recorder {
  /** Ends the recording and writes it to a file; returns more facts about it, such as why it ended early. */
  finish(path: string): Promise<Record<string, unknown>>
  /** Ends the recording without a file, for a session that has ended. */
  discard(): Promise<void>
}

export interface RecordingOptions {
  readonly bodies?: boolean
}
