/** Files that a command gives to a page. */
export interface FilesToUpload {
  /** Absolute paths of the files, those of folders one by one. */
  readonly paths: readonly string[]
  /** Number of folders that the files are from. */
  readonly folders: number
  /** Number of files that are from no folder. */
  readonly single: number
  /** Names of the files, with the path from their folder on: `photos/2026/beach.jpg`. */
  readonly names: readonly string[]
  /** Returns the absolute paths of the folders, which contain nothing else, and of the single files. */
  arrange(): Promise<string[]>
}
