/** Inputs and results of the file operations of a container, `ShellContainer.files`. */

/** Path, absolute or relative to /workspace. Strings are encoded as UTF-8. */
export type PathBytes = string | Uint8Array

export interface ReadOptions {
  readonly offset?: number
  /** Maximum number of bytes; undefined reads to the end. */
  readonly length?: number
  readonly beneath?: string
  readonly signal?: AbortSignal
}

export interface WalkOptions {
  /** Maximum depth below `path`: 1 lists only its own entries. */
  readonly maxDepth?: number
  readonly maxEntries?: number
  /** Whether entries whose names start with a dot are included. */
  readonly hidden?: boolean
  readonly signal?: AbortSignal
}

export interface FileFacts {
  readonly type: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device'
  readonly size: number
  /** Permission bits, such as 0o644. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Names from /etc/passwd and /etc/group of the image; null if unknown there. */
  readonly owner: string | null
  readonly group: string | null
  /** Modification time in nanoseconds since 1970. */
  readonly modifiedNs: bigint
  /** Time of the last change of the file or its metadata, which programs cannot set. */
  readonly changedNs: bigint
  readonly inode: bigint
  readonly device: bigint
  readonly linkTarget: Uint8Array | null
}

export interface WalkEntry extends FileFacts {
  /** Path relative to the start of the walk. */
  readonly path: Uint8Array
  /** Depth; 1 for entries of the first directory. */
  readonly depth: number
  /** Why a directory was not entered: it is unreadable, or `maxDepth` was reached and it has (or may have) entries. */
  readonly unread: 'unreadable' | 'depth' | null
  /** Whether the walk stopped here because of `maxEntries`, with more to come. */
  readonly cut: boolean
}

export interface FileStream {
  readonly facts: FileFacts
  readonly data: AsyncIterable<Uint8Array>
  /** Facts after the last byte was read; resolves after `data` ended. */
  readonly factsAfter: Promise<FileFacts>
}
