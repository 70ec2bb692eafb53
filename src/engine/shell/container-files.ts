/** Interface of the files of a container, as provided by `ShellContainer.files`. */

/** Path, absolute or relative to /workspace. Strings are encoded as UTF-8. */
export type PathBytes = string | Uint8Array

/**
 * File operations, performed by the agent as the session's user. Symbolic links in the last path component are only
 * followed where stated. All throw ContainerError with the system's error code (`ENOENT`, `EACCES`, `ENOSPC`, …).
 */
export interface ContainerFiles {
  info(path: PathBytes, options?: { follow?: boolean }): Promise<FileFacts>
  /** Returns the path with all symbolic links resolved, as bytes. */
  realPath(path: PathBytes): Promise<Uint8Array>
  /**
   * Lists one page of a directory in bytewise order of names, after the name `after`; `next` is the `after` of the next
   * page, or null. `total` counts all entries, without hidden ones if `hidden` is false. `ENOTDIR`.
   */
  list(
    path: PathBytes,
    options?: { after?: Uint8Array; limit?: number; hidden?: boolean },
  ): Promise<{ entries: NamedFacts[]; total: number; next: Uint8Array | null }>
  /**
   * Lists a directory recursively, parents first, bytewise by name, without following links. Unreadable directories are
   * marked `unreadable`. At `maxEntries` the walk stops and marks the last entry with `cut`.
   */
  walk(path: PathBytes, options?: WalkOptions): AsyncIterable<WalkEntry>
  /**
   * Reads a regular file (`EISDIR`, `ENXIO` for others; never blocks on a fifo). `facts` are those before reading.
   * `beneath` is a directory that must not be left and below which no link is followed; `path` is then relative to it.
   */
  read(path: PathBytes, options?: ReadOptions): Promise<{ facts: FileFacts; data: Uint8Array }>
  /** Reads a file as a stream at the pace of the reader; `factsAfter` shows whether it has changed meanwhile. */
  readStream(path: PathBytes, options?: ReadOptions): Promise<FileStream>
  /**
   * Writes a file: under a temporary name, then renamed into place, or appended. An existing file keeps its mode.
   * `EEXIST` with `overwrite: false`; `EISDIR`; `ENOSPC` keeps the old content.
   */
  write(
    path: PathBytes,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { mode?: number; append?: boolean; createDirs?: boolean; overwrite?: boolean },
  ): Promise<{ facts: FileFacts; bytesWritten: number; created: boolean }>
  /**
   * Removes an entry and returns the number of entries removed; a link itself is removed, not its target. `ENOTEMPTY`
   * without `recursive`; `EBUSY` for `/` and mount points.
   */
  remove(path: PathBytes, options?: { recursive?: boolean }): Promise<number>
  /**
   * Copies an entry, preserving links and modes. `EINVAL` for anything but files, directories and links. `EEXIST`
   * without `overwrite`; with it, a directory is merged into an existing one, and a file over a directory is still
   * `EEXIST`. `EISDIR` without `recursive`; `ELOOP` into itself. A failed copy is removed again.
   */
  copy(
    source: PathBytes,
    destination: PathBytes,
    options?: { overwrite?: boolean; recursive?: boolean },
  ): Promise<{ entries: number; bytes: number }>
  /** Moves an entry, across mounts by copying, all or nothing. `EEXIST` without `overwrite`; `ELOOP` into itself. */
  move(source: PathBytes, destination: PathBytes, options?: { overwrite?: boolean }): Promise<FileFacts>
  /** Creates a directory; false if it already exists (only with `parents`), `EEXIST` otherwise. */
  mkdir(path: PathBytes, options?: { parents?: boolean; mode?: number }): Promise<boolean>
}

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

export interface NamedFacts extends FileFacts {
  readonly name: Uint8Array
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
