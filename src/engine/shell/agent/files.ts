/** File operations of one container, performed by its agent. */
import PQueue from 'p-queue'
import { ContainerError } from '../container.ts'
import type { FileFacts, FileStream, PathBytes, ReadOptions, WalkEntry, WalkOptions } from '../container-files.ts'
import type { AgentChannel } from './channel.ts'
import { Deferred } from './deferred.ts'
import { FileCall } from './file-call.ts'
import { namesByNumber, type Owners, readEntry, readFacts } from './file-facts.ts'
import { fileOperation, FrameReader, FrameWriter, unlimited, writeFlag } from './frames.ts'

/** Maximum number of concurrent streams: each occupies one of the few threads of the agent. */
const maxStreams = 8
const maxU32 = 0xffff_ffff

/** Owner names, shared by all containers of an image and read once. */
export interface OwnersOfImage {
  owners?: Promise<Owners>
}

const noOwners: Owners = { users: new Map(), groups: new Map() }

/** Begins the parameters of an operation. */
const request = (operation: keyof typeof fileOperation) => new FrameWriter().u8(fileOperation[operation])

/**
 * File operations, performed by the agent as the session's user. Symbolic links in the last path component are only
 * followed where stated. All throw ContainerError with the system's error code (`ENOENT`, `EACCES`, `ENOSPC`, …).
 */
export class AgentFiles {
  readonly #channel: AgentChannel
  readonly #image: OwnersOfImage
  readonly #streams = new PQueue({ concurrency: maxStreams })

  constructor(channel: AgentChannel, image: OwnersOfImage) {
    this.#channel = channel
    this.#image = image
  }

  async info(path: PathBytes, { follow = false }: { follow?: boolean } = {}): Promise<FileFacts> {
    return this.#facts(request('info').bytes(path).flag(follow))
  }

  /** Returns the path with all symbolic links resolved, as bytes. */
  async realPath(path: PathBytes): Promise<Uint8Array> {
    return (await this.#call(request('realPath').bytes(path))).bytes()
  }

  /**
   * Lists one page of a directory in bytewise order of names, after the name `after`; `next` is the `after` of the next
   * page, or null. `total` counts all entries, without hidden ones if `hidden` is false. `ENOTDIR`.
   */
  async list(
    path: PathBytes,
    {
      after = new Uint8Array(),
      limit = maxU32,
      hidden = true,
    }: { after?: Uint8Array; limit?: number; hidden?: boolean } = {},
  ): Promise<{ entries: (FileFacts & { name: Uint8Array })[]; total: number; next: Uint8Array | null }> {
    const owners = await this.#owners()
    const call = new FileCall(this.#channel, request('list').bytes(path).bytes(after).u32(limit).flag(hidden))
    const entries: (FileFacts & { name: Uint8Array })[] = []
    for await (const piece of call.pieces) {
      const records = new FrameReader(piece as Buffer)
      while (!records.finished) {
        const name = records.bytes()
        entries.push({ name, ...readFacts(records, owners) })
      }
    }
    const answer = await call.answer
    const total = answer.u32()
    const more = answer.u8() === 1
    return { entries, total, next: more ? answer.bytes() : null }
  }

  /**
   * Lists a directory recursively, parents first, bytewise by name, without following links. Unreadable directories are
   * marked `unreadable`. At `maxEntries` the walk stops and marks the last entry with `cut`.
   */
  async *walk(path: PathBytes, options: WalkOptions = {}): AsyncGenerator<WalkEntry, void, undefined> {
    const { maxDepth = maxU32, maxEntries = maxU32, hidden = true, signal } = options
    const owners = await this.#owners()
    const [depth, entries] = [Math.min(maxDepth, maxU32), Math.min(maxEntries, maxU32)]
    const body = request('walk').bytes(path).u32(depth).u32(entries).flag(hidden)
    const call = await this.#stream(() => new FileCall(this.#channel, body, { signal }))
    // The last entry tells whether the walk was cut off, so it is held back.
    let last: WalkEntry | undefined
    for await (const piece of call.pieces) {
      const records = new FrameReader(piece as Buffer)
      while (!records.finished) {
        if (last) yield last
        last = readEntry(records, owners)
      }
    }
    const cut = (await call.answer).u8() === 1
    if (last) yield { ...last, cut }
  }

  /**
   * Reads a regular file (`EISDIR`, `ENXIO` for others; never blocks on a fifo). `facts` are those before reading.
   * `beneath` is a directory that must not be left and below which no link is followed; `path` is then relative to it.
   */
  async read(path: PathBytes, options: ReadOptions = {}): Promise<{ facts: FileFacts; data: Uint8Array }> {
    const { facts, data, factsAfter } = await this.readStream(path, options)
    const bytes = await readAll(data)
    await factsAfter
    return { facts, data: bytes }
  }

  /** Reads a file as a stream at the pace of the reader; `factsAfter` shows whether it has changed meanwhile. */
  async readStream(path: PathBytes, options: ReadOptions = {}): Promise<FileStream> {
    return this.#read(path, options, await this.#owners())
  }

  /**
   * Writes a file: under a temporary name, then renamed into place, or appended. An existing file keeps its mode.
   * `EEXIST` with `overwrite: false`; `EISDIR`; `ENOSPC` keeps the old content.
   */
  async write(
    path: PathBytes,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: { mode?: number; append?: boolean; createDirs?: boolean; overwrite?: boolean } = {},
  ): Promise<{ facts: FileFacts; bytesWritten: number; created: boolean }> {
    const { mode = 0o644, append = false, createDirs = true, overwrite = true } = options
    const owners = await this.#owners()
    const flags =
      (append ? writeFlag.append : 0) | (createDirs ? writeFlag.parents : 0) | (overwrite ? writeFlag.overwrite : 0)
    const body = request('write').bytes(path).u32(mode).u8(flags)
    const call = await this.#stream(() => new FileCall(this.#channel, body))
    await call.send(content)
    const answer = await call.answer
    const facts = readFacts(answer, owners)
    return { facts, bytesWritten: Number(answer.u64()), created: answer.u8() === 1 }
  }

  /**
   * Removes an entry and returns the number of entries removed; a link itself is removed, not its target. `ENOTEMPTY`
   * without `recursive`; `EBUSY` for `/` and mount points.
   */
  async remove(path: PathBytes, { recursive = false }: { recursive?: boolean } = {}): Promise<number> {
    return (await this.#call(request('remove').bytes(path).flag(recursive))).u32()
  }

  /**
   * Copies an entry, preserving links and modes. `EINVAL` for anything but files, directories and links. `EEXIST`
   * without `overwrite`; with it, a directory is merged into an existing one, and a file over a directory is still
   * `EEXIST`. `EISDIR` without `recursive`; `ELOOP` into itself. A failed copy is removed again.
   */
  async copy(
    source: PathBytes,
    destination: PathBytes,
    { overwrite = false, recursive = true }: { overwrite?: boolean; recursive?: boolean } = {},
  ): Promise<{ entries: number; bytes: number }> {
    const answer = await this.#call(request('copy').bytes(source).bytes(destination).flag(overwrite).flag(recursive))
    return { entries: answer.u32(), bytes: Number(answer.u64()) }
  }

  /** Moves an entry, across mounts by copying, all or nothing. `EEXIST` without `overwrite`; `ELOOP` into itself. */
  async move(
    source: PathBytes,
    destination: PathBytes,
    { overwrite = false }: { overwrite?: boolean } = {},
  ): Promise<FileFacts> {
    return this.#facts(request('move').bytes(source).bytes(destination).flag(overwrite))
  }

  /** Creates a directory; false if it already exists (only with `parents`), `EEXIST` otherwise. */
  async mkdir(
    path: PathBytes,
    { parents = true, mode = 0o755 }: { parents?: boolean; mode?: number } = {},
  ): Promise<boolean> {
    return (await this.#call(request('mkdir').bytes(path).flag(parents).u32(mode))).u8() === 1
  }

  async #facts(body: FrameWriter): Promise<FileFacts> {
    const owners = await this.#owners()
    return readFacts(await this.#call(body), owners)
  }

  #call(body: FrameWriter): Promise<FrameReader> {
    return new FileCall(this.#channel, body).answer
  }

  async #read(path: PathBytes, options: ReadOptions, owners: Owners): Promise<FileStream> {
    const { offset = 0, length, beneath, signal } = options
    const body = request('read')
      .bytes(path)
      .flag(beneath !== undefined)
      .bytes(beneath ?? '')
      .u64(BigInt(offset))
      .u64(length === undefined ? unlimited : BigInt(length))
    const call = await this.#stream(() => new FileCall(this.#channel, body, { opens: true, signal }))
    const facts = readFacts(await call.opening.promise, owners)
    const factsAfter = call.answer.then((answer) => readFacts(answer, owners))
    // Readers that need only the content do not wait for it.
    factsAfter.catch(() => {})
    return { facts, data: call.pieces, factsAfter }
  }

  /** Waits for a free slot, which the call occupies until it ends. */
  #stream(begin: () => FileCall): Promise<FileCall> {
    const started = new Deferred<FileCall>()
    void this.#streams.add(async () => {
      try {
        const call = begin()
        started.resolve(call)
        await call.answer
      } catch (error) {
        // Once the call has started, its reader gets the error from the response.
        started.reject(error)
      }
    })
    return started.promise
  }

  #owners(): Promise<Owners> {
    this.#image.owners ??= this.#readOwners().catch((error: unknown) => {
      delete this.#image.owners
      throw error
    })
    return this.#image.owners
  }

  async #readOwners(): Promise<Owners> {
    const [users, groups] = await Promise.all([this.#names('/etc/passwd'), this.#names('/etc/group')])
    return { users, groups }
  }

  /** Reads names by ID; an image without the file has none. */
  async #names(path: string): Promise<Map<number, string>> {
    try {
      const { data } = await this.#read(path, {}, noOwners)
      return namesByNumber((await readAll(data)).toString())
    } catch (error) {
      if (error instanceof ContainerError) return new Map()
      throw error
    }
  }
}

async function readAll(data: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of data) pieces.push(piece)
  return Buffer.concat(pieces)
}
