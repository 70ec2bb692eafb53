/** Files of a container, as `ShellContainer.files` gives them. */

/** Bytes of a path: absolute, or relative to /workspace. Strings are UTF-8. */
export type PathBytes = string | Uint8Array

/**
 * File operations, done by the agent as the session's user. Links in the last place are followed only where it is said.
 * All throw ContainerFault with the system's code (`ENOENT`, `EACCES`, `ENOSPC`, …).
 */
export interface ContainerFiles {
  info(path: PathBytes, options?: { follow?: boolean }): Promise<FileFacts>
  /** The path with every link resolved, as bytes. */
  realPath(path: PathBytes): Promise<Uint8Array>
  /**
   * One page of a directory in bytewise order of names, `after` a name; `next` is the `after` of the next page, or null.
   * `total` counts what `hidden` lets through. `ENOTDIR`.
   */
  list(
    path: PathBytes,
    options?: { after?: Uint8Array; limit?: number; hidden?: boolean },
  ): Promise<{ entries: NamedFacts[]; total: number; next: Uint8Array | null }>
  /**
   * A directory's entries and those beneath, parents first, bytewise by name; links are not followed. What cannot be
   * opened comes with `unreadable`. `maxEntries` cuts it (`cut: true` on the last record, `FileFacts` of no further file).
   */
  walk(path: PathBytes, options?: WalkOptions): AsyncIterable<WalkEntry>
  /**
   * Bytes of a regular file (`EISDIR`, `ENXIO` for what is none; never blocks on a fifo); facts are those before reading.
   * `beneath`: a directory that must not be left and within which no link is followed; `path` is then relative to it.
   */
  read(path: PathBytes, options?: ReadOptions): Promise<{ facts: FileFacts; data: Uint8Array }>
  /** The same as a stream at the reader's pace; `factsAfter` tells whether the file changed meanwhile. */
  readStream(path: PathBytes, options?: ReadOptions): Promise<FileStream>
  /**
   * Writes a file: whole under a temporary name and renamed into place, or appended. An existing file keeps its mode.
   * `EEXIST` with `overwrite: false`; `EISDIR`; `ENOSPC` leaves the old content.
   */
  write(
    path: PathBytes,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options?: { mode?: number; append?: boolean; createDirs?: boolean; overwrite?: boolean },
  ): Promise<{ facts: FileFacts; bytesWritten: number; created: boolean }>
  /** Number of entries removed. A link goes itself. `ENOTEMPTY` without `recursive`; `EBUSY` for `/` and mount points. */
  remove(path: PathBytes, options?: { recursive?: boolean }): Promise<number>
  /**
   * Links stay links, modes are kept; what is neither file, directory nor link is `EINVAL`. `EEXIST` without `overwrite`
   * (with it, a directory that exists is `EEXIST` still for a file, and files are laid over one for a directory);
   * `EISDIR` without `recursive`; `ELOOP` into itself. A copy that fails half-way is removed again.
   */
  copy(
    source: PathBytes,
    destination: PathBytes,
    options?: { overwrite?: boolean; recursive?: boolean },
  ): Promise<{ entries: number; bytes: number }>
  /** rename(2), across mounts copy and remove, all or nothing. `EEXIST` without `overwrite`; `ELOOP` into itself. */
  move(source: PathBytes, destination: PathBytes, options?: { overwrite?: boolean }): Promise<FileFacts>
  /** False when it was there already as a directory (only with `parents`); `EEXIST` otherwise. */
  mkdir(path: PathBytes, options?: { parents?: boolean; mode?: number }): Promise<boolean>
}

export interface ReadOptions {
  readonly offset?: number
  /** Bytes at most; undefined reads to the end. */
  readonly length?: number
  readonly beneath?: string
  readonly signal?: AbortSignal
}

export interface WalkOptions {
  /** Levels below `path`: 1 lists its own entries only. */
  readonly maxDepth?: number
  readonly maxEntries?: number
  /** Whether names that start with a dot are given and entered. */
  readonly hidden?: boolean
  readonly signal?: AbortSignal
}

export interface FileFacts {
  readonly type: 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device'
  readonly size: number
  /** Permission bits, e.g. 0o644. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Names of /etc/passwd and /etc/group in the image; null when unknown there. */
  readonly owner: string | null
  readonly group: string | null
  /** Nanoseconds since 1970. */
  readonly modifiedNs: bigint
  /** Changes with every change to the file, which a program cannot set back. */
  readonly changedNs: bigint
  readonly inode: bigint
  readonly device: bigint
  /** Target of a link. */
  readonly linkTarget: Uint8Array | null
}

export interface NamedFacts extends FileFacts {
  readonly name: Uint8Array
}

export interface WalkEntry extends FileFacts {
  /** Path relative to where the walk began. */
  readonly path: Uint8Array
  /** 1 for the entries of the first directory. */
  readonly depth: number
  /** A directory that could not be read, or that `maxDepth` did not enter although it has (or may have) entries. */
  readonly unread: 'unreadable' | 'depth' | null
  /** The walk ended here because of `maxEntries`, with more to come. */
  readonly cut: boolean
}

export interface FileStream {
  readonly facts: FileFacts
  readonly data: AsyncIterable<Uint8Array>
  /** Facts when the last byte had been read; resolves after `data` ended. */
  readonly factsAfter: Promise<FileFacts>
}
