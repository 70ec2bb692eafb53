/** File operations of one container, performed by its agent. */
import PQueue from 'p-queue'
import { ContainerError } from '../container.ts'
import type {
  ContainerFiles,
  FileFacts,
  FileStream,
  NamedFacts,
  PathBytes,
  ReadOptions,
  WalkEntry,
  WalkOptions,
} from '../container-files.ts'
import type { AgentChannel } from './channel.ts'
import { Deferred } from './deferred.ts'
import { FileCall } from './file-call.ts'
import { namesByNumber, type Owners, readFacts } from './file-facts.ts'
import { fileOperation, FrameReader, FrameWriter, readFlag, unlimited, writeFlag } from './frames.ts'

/** Maximum number of concurrent streams: each occupies one of the few threads of the agent. */
const maxStreams = 8
const maxU32 = 0xffff_ffff

/** Owner names, shared by all containers of an image and read once. */
export interface OwnersOfImage {
  owners?: Promise<Owners>
}

const noOwners: Owners = { users: new Map(), groups: new Map() }

export class AgentFiles implements ContainerFiles {
  readonly #channel: AgentChannel
  readonly #image: OwnersOfImage
  readonly #streams = new PQueue({ concurrency: maxStreams })

  constructor(channel: AgentChannel, image: OwnersOfImage) {
    this.#channel = channel
    this.#image = image
  }

  async info(path: PathBytes, { follow = false }: { follow?: boolean } = {}): Promise<FileFacts> {
    return this.#facts(fileOperation.info, new FrameWriter().bytes(path).flag(follow))
  }

  async realPath(path: PathBytes): Promise<Uint8Array> {
    const answer = await this.#call(fileOperation.realPath, new FrameWriter().bytes(path)).answer
    return answer.bytes()
  }

  async list(
    path: PathBytes,
    { after = new Uint8Array(), limit = maxU32, hidden = true }: Parameters<ContainerFiles['list']>[1] = {},
  ): Promise<{ entries: NamedFacts[]; total: number; next: Uint8Array | null }> {
    const owners = await this.#owners()
    const body = new FrameWriter().bytes(path).bytes(after).u32(limit).flag(hidden)
    const call = this.#call(fileOperation.list, body)
    const entries: NamedFacts[] = []
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

  async *walk(path: PathBytes, options: WalkOptions = {}): AsyncGenerator<WalkEntry, void, undefined> {
    const { maxDepth = maxU32, maxEntries = maxU32, hidden = true, signal } = options
    const owners = await this.#owners()
    const [depth, entries] = [Math.min(maxDepth, maxU32), Math.min(maxEntries, maxU32)]
    const body = new FrameWriter().bytes(path).u32(depth).u32(entries).flag(hidden)
    const call = await this.#stream(() => this.#call(fileOperation.walk, body, signal))
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

  async read(path: PathBytes, options: ReadOptions = {}): Promise<{ facts: FileFacts; data: Uint8Array }> {
    const { facts, data, factsAfter } = await this.readStream(path, options)
    const bytes = await readAll(data)
    await factsAfter
    return { facts, data: bytes }
  }

  async readStream(path: PathBytes, options: ReadOptions = {}): Promise<FileStream> {
    return this.#read(path, options, await this.#owners())
  }

  async write(
    path: PathBytes,
    content: Uint8Array | AsyncIterable<Uint8Array>,
    options: Parameters<ContainerFiles['write']>[2] = {},
  ): Promise<{ facts: FileFacts; bytesWritten: number; created: boolean }> {
    const { mode = 0o644, append = false, createDirs = true, overwrite = true } = options
    const owners = await this.#owners()
    const flags =
      (append ? writeFlag.append : 0) | (createDirs ? writeFlag.parents : 0) | (overwrite ? writeFlag.overwrite : 0)
    const body = new FrameWriter().bytes(path).u32(mode).u8(flags)
    const call = await this.#stream(() => this.#call(fileOperation.write, body))
    await sendContent(call, content)
    const answer = await call.answer
    const facts = readFacts(answer, owners)
    return { facts, bytesWritten: Number(answer.u64()), created: answer.u8() === 1 }
  }

  async remove(path: PathBytes, { recursive = false }: { recursive?: boolean } = {}): Promise<number> {
    const body = new FrameWriter().bytes(path).flag(recursive)
    return (await this.#call(fileOperation.remove, body).answer).u32()
  }

  async copy(
    source: PathBytes,
    destination: PathBytes,
    { overwrite = false, recursive = true }: { overwrite?: boolean; recursive?: boolean } = {},
  ): Promise<{ entries: number; bytes: number }> {
    const body = new FrameWriter().bytes(source).bytes(destination).flag(overwrite).flag(recursive)
    const answer = await this.#call(fileOperation.copy, body).answer
    return { entries: answer.u32(), bytes: Number(answer.u64()) }
  }

  async move(
    source: PathBytes,
    destination: PathBytes,
    { overwrite = false }: { overwrite?: boolean } = {},
  ): Promise<FileFacts> {
    const body = new FrameWriter().bytes(source).bytes(destination).flag(overwrite)
    return this.#facts(fileOperation.move, body)
  }

  async mkdir(
    path: PathBytes,
    { parents = true, mode = 0o755 }: { parents?: boolean; mode?: number } = {},
  ): Promise<boolean> {
    const body = new FrameWriter().bytes(path).flag(parents).u32(mode)
    return (await this.#call(fileOperation.mkdir, body).answer).u8() === 1
  }

  async #facts(operation: number, body: FrameWriter): Promise<FileFacts> {
    const owners = await this.#owners()
    return readFacts(await this.#call(operation, body).answer, owners)
  }

  #call(operation: number, body: FrameWriter, signal?: AbortSignal): FileCall {
    signal?.throwIfAborted()
    const call = new FileCall(this.#channel, operation, body)
    cancelOn(call, signal)
    return call
  }

  async #read(path: PathBytes, options: ReadOptions, owners: Owners): Promise<FileStream> {
    const { offset = 0, length, beneath, signal } = options
    signal?.throwIfAborted()
    const body = new FrameWriter()
      .bytes(path)
      .u8(beneath === undefined ? 0 : readFlag.beneath)
      .bytes(beneath ?? '')
      .u64(BigInt(offset))
      .u64(length === undefined ? unlimited : BigInt(length))
    const call = await this.#stream(() => new FileCall(this.#channel, fileOperation.read, body, true))
    cancelOn(call, signal)
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

/** Cancels a call when `signal` aborts. */
function cancelOn(call: FileCall, signal: AbortSignal | undefined): void {
  if (!signal) return
  const cancel = () => call.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  // Errors reach the reader of the answer.
  void call.answer.catch(() => {}).finally(() => signal.removeEventListener('abort', cancel))
}

async function sendContent(call: FileCall, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<void> {
  if (content instanceof Uint8Array) {
    await call.input.write(content)
    return call.input.end()
  }
  try {
    // False means that the agent has failed; its response has the reason.
    for await (const piece of content) if (!(await call.input.write(piece))) return
    call.input.end()
  } catch (error) {
    // The source failed: discard the partial file.
    call.cancel()
    // A cancelled call fails; the error of the source is reported.
    await call.answer.catch(() => {})
    throw error
  }
}

function readEntry(records: FrameReader, owners: Owners): WalkEntry {
  const path = records.bytes()
  const depth = records.u32()
  const unread = ([null, 'unreadable', 'depth'] as const)[records.u8()] ?? null
  return { path, depth, unread, cut: false, ...readFacts(records, owners) }
}
