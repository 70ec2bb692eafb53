/** The downloads of a session, as its commands use them. */
import type { CommandDownload } from '../../../core/shapes/session-files.ts'

/** A position in the downloads and requested navigations of a session. */
export interface DownloadMark {
  readonly downloads: number
  readonly begun: number
  readonly requests: number
}

/** How a command ended; `aborted`: its navigation opened no page, perhaps because it became a download. */
export type DownloadChance = 'possible' | 'aborted' | 'none'

export interface DownloadMarks {
  mark(): DownloadMark
  /**
   * Returns the downloads since the mark, after waiting for their ends within a limit, and unless there is no chance of
   * one for the outcome of the command's navigations.
   */
  since(mark: DownloadMark, chance: DownloadChance, signal: AbortSignal): Promise<CommandDownload[]>
}
