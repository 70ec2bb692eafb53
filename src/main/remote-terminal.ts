/** Streams and signals of a command over the connection of its launcher; `src/launcher/launcher.c` has the frames. */
import type { Socket } from 'node:net'
import { clearLine, cursorTo, moveCursor } from 'node:readline'
import { Writable } from 'node:stream'
import { getSystemErrorName } from 'node:util'
import type { Io } from '../cli/io.ts'
import { type Hello, parseWindow, type Window } from './hello.ts'

/** Longest frame from a launcher, in bytes: its arguments and environment. */
const maxFrameBytes = 32 * 1024 * 1024

export const frame = (type: string, payload: Uint8Array = Buffer.alloc(0)): Buffer => {
  const head = Buffer.alloc(5)
  head.write(type, 'latin1')
  head.writeUInt32LE(payload.length, 1)
  return Buffer.concat([head, payload])
}

type Frame = readonly [type: string, payload: Buffer]

/** Splits received bytes into frames, calling `onFrame` for each. @throws Error for a frame that is too long */
export function frameReader(onFrame: (frame: Frame) => void): (chunk: Buffer) => void {
  let buffered: Buffer = Buffer.alloc(0)
  return (chunk) => {
    buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
    while (buffered.length >= 5) {
      const length = buffered.readUInt32LE(1)
      if (length > maxFrameBytes) throw new Error('a frame is too long')
      if (buffered.length < 5 + length) return
      const payload = buffered.subarray(5, 5 + length)
      const type = String.fromCharCode(buffered[0]!)
      buffered = buffered.subarray(5 + length)
      onFrame([type, payload])
    }
  }
}

/** An output of the launcher. */
class RemoteOutput extends Writable {
  readonly #socket: Socket
  readonly #type: 'O' | 'R'
  readonly #unflushed: (() => void)[]
  readonly isTTY: boolean
  columns: number | undefined
  rows: number | undefined

  /** Flushes wait in `unflushed` for the launcher, in order. */
  constructor(socket: Socket, type: 'O' | 'R', window: Window | undefined, unflushed: (() => void)[]) {
    super()
    this.#socket = socket
    this.#type = type
    this.#unflushed = unflushed
    this.isTTY = window !== undefined
    this.resize(window)
  }

  resize(window: Window | undefined): void {
    const isChanged = this.columns !== undefined
    this.columns = window?.columns
    this.rows = window?.rows
    if (window && isChanged) this.emit('resize')
  }

  /** An empty chunk is done when the launcher has written everything before it, or has reported a failure. */
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#socket.destroyed) return done(brokenPipe())
    if (chunk.length === 0) {
      this.#unflushed.push(done)
      return void this.#socket.write(frame(this.#type))
    }
    together(this.#socket)
    const isTaken = this.#socket.write(frame(this.#type, chunk), (error) => {
      if (!isTaken) done(error && brokenPipe())
    })
    if (isTaken) done()
  }

  // Those of a terminal stream that spinners use.
  cursorTo(x: number, y?: number): boolean {
    return cursorTo(this, x, y)
  }
  moveCursor(dx: number, dy: number): boolean {
    return moveCursor(this, dx, dy)
  }
  clearLine(direction: -1 | 0 | 1): boolean {
    return clearLine(this, direction)
  }
}

/** Sends what is written until the next turn of the event loop in one piece, such as the output and the exit code. */
function together(socket: Socket): void {
  if (socket.writableCorked > 0) return
  socket.cork()
  setImmediate(() => socket.uncork())
}

const brokenPipe = () => Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })

const signalNames: Readonly<Record<number, string>> = { 1: 'SIGHUP', 2: 'SIGINT', 15: 'SIGTERM' }

export interface RemoteTerminal {
  readonly stdin: Io['stdin']
  readonly stdout: RemoteOutput
  readonly stderr: RemoteOutput
  /** Takes a frame of the launcher. */
  take(frame: Frame): void
  /**
   * Tells the launcher to exit with a code, after what has been written. Returns false if not all of it could be written;
   * the launcher waits for further output then.
   */
  exit(code: number): Promise<boolean>
  /** Ends standard input, and aborts the command because its terminal is gone. */
  close(): void
}

/** Creates the streams; `interrupted` is aborted by signals of the launcher. */
export function remoteTerminal(socket: Socket, hello: Hello, interrupted: AbortController): RemoteTerminal {
  const unflushed: ((error?: Error) => void)[] = []
  const stdout = new RemoteOutput(socket, 'O', hello.windows[0], unflushed)
  const stderr = new RemoteOutput(socket, 'R', hello.windows[1], unflushed)
  const input = remoteInput(socket)
  return {
    stdin: { isTTY: hello.isInputTerminal, [Symbol.asyncIterator]: input.chunks },
    stdout,
    stderr,
    take([type, payload]) {
      if (type === 'I') input.push(payload)
      else if (type === 'D') unflushed.shift()?.()
      else if (type === 'S') interrupted.abort(signalNames[payload[0]!] ?? 'SIGTERM')
      else if (type === 'W') {
        const [out = '', error = ''] = payload.toString('latin1').split('\0')
        stdout.resize(parseWindow(out))
        stderr.resize(parseWindow(error))
      } else if (type === 'E') {
        const code = getSystemErrorName(-payload[1]!)
        const error = Object.assign(new Error(`write ${code}`), { code, errno: -payload[1]!, syscall: 'write' })
        ;(payload[0] === 1 ? stdout : stderr).destroy(error)
      }
    },
    exit: (code) =>
      new Promise((resolve) => {
        if (stdout.writableLength + stderr.writableLength > 0 || socket.destroyed) return resolve(false)
        unflushed.push(() => resolve(socket.destroyed))
        together(socket)
        socket.write(frame('Y', Buffer.from([code])))
      }),
    close() {
      for (const done of unflushed.splice(0)) done()
      input.push(Buffer.alloc(0))
      interrupted.abort('SIGHUP')
    },
  }
}

/** Reads standard input on request, a chunk at a time; an empty one is its end. */
function remoteInput(socket: Socket) {
  let deliver: ((chunk: Buffer) => void) | undefined
  let hasEnded = false
  async function* chunks(): AsyncGenerator<Buffer> {
    while (!hasEnded) {
      const chunk = await new Promise<Buffer>((resolve) => {
        deliver = resolve
        socket.write(frame('I'))
      })
      if (chunk.length === 0) return
      yield chunk
    }
  }
  return {
    chunks,
    push(chunk: Buffer) {
      hasEnded ||= chunk.length === 0
      deliver?.(chunk)
    },
  }
}
