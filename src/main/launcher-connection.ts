/** Runs the command of one connection of a launcher; `src/launcher/launcher.c` has the frames. */
import type { Socket } from 'node:net'
import type { Io } from '../cli/io.ts'
import { type Hello, parseHello } from './hello.ts'
import { Outputs } from './outputs.ts'
import { frame, frameReader, remoteTerminal } from './remote-terminal.ts'

export interface Connection {
  /** Returns why a command cannot run in this process; undefined if it can, which it is prepared for then. */
  accept(hello: Hello): string | undefined
  run(argv: readonly string[], io: Io): Promise<number>
  readonly host: Io['host']
  /** Frame that refuses a command: for Node, or for a command worker. */
  readonly refusal: 'F' | 'N'
  /** Called when the launcher has gone before its command was done; the command is aborted. */
  onGone?(isDone: () => boolean): void
}

/** Runs the command of a launcher, and closes the connection. */
export async function serveLauncher(socket: Socket, connection: Connection): Promise<void> {
  socket.on('error', () => {
    // A connection that fails also closes, which ends the command.
  })
  const interrupted = new AbortController()
  let terminal: ReturnType<typeof remoteTerminal> | undefined
  let refusal = ''
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const hello = await new Promise<Hello | undefined>((resolve) => {
    const read = frameReader(([type, payload]) => {
      if (type !== 'H' || terminal) return terminal?.take([type, payload])
      const parsed = accepted(payload, connection)
      if (typeof parsed === 'string') {
        refusal = parsed
        return resolve(undefined)
      }
      terminal = remoteTerminal(socket, parsed, interrupted)
      // Fails if the launcher has given up: then it runs the command in Node.
      socket.write(frame('A'), (error) => resolve(error ? undefined : parsed))
    })
    socket.on('data', (chunk) => {
      try {
        read(chunk)
      } catch {
        // Not a launcher of this build.
        socket.destroy()
      }
    })
    void closed.then(() => resolve(undefined))
    socket.resume()
  })
  if (hello && terminal) {
    const { close, exit } = terminal
    let isDone = false
    void closed.then(() => {
      close()
      if (!isDone) connection.onGone?.(() => isDone)
    })
    const outputs = new Outputs((name) => terminal![name], interrupted)
    const io = ioOf(hello, terminal.stdin, outputs, { signal: interrupted.signal, host: connection.host })
    const code = await connection.run(hello.argv, io)
    isDone = true
    if (!(await exit(code))) socket.end(frame('X', Buffer.from([await outputs.end(code, io)])))
  } else socket.end(frame(connection.refusal, Buffer.from(refusal)))
  await closed
}

function accepted(payload: Buffer, connection: Connection): Hello | string {
  try {
    const hello = parseHello(payload)
    return connection.accept(hello) ?? hello
  } catch (error) {
    // Node reports what is wrong with the arguments, the settings or the working folder.
    return (error as Error).message
  }
}

/** Returns the streams and the environment of a command. */
function ioOf({ env, cwd }: Hello, stdin: Io['stdin'], outputs: Outputs, more: Pick<Io, 'signal' | 'host'>): Io {
  return {
    stdin,
    get stdout() {
      return outputs.get('stdout')
    },
    get stderr() {
      return outputs.get('stderr')
    },
    env,
    cwd,
    ...more,
  }
}
