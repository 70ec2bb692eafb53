/**
 * A lock that a process holds for its whole life, and that answers those who ask it.
 *
 * The holder listens on a name that the kernel gives to one process only and takes back however that process ends:
 * an abstract socket on Linux, a named pipe on Windows. Elsewhere (macOS, and Node before 20.8, which cannot bind
 * abstract names) it is a socket file: binding an existing file fails, so two starters cannot both succeed; a file whose
 * owner has died refuses connections and is renamed away before the next try. Renaming is checked afterwards, because
 * another starter may have replaced the dead file in between.
 */
import { randomBytes } from 'node:crypto'
import { rename, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** How a lock is named: by the kernel alone, or by a file that may outlive its process. */
export interface LockName {
  readonly path: string
  readonly isFile: boolean
}

export interface HeldLock {
  /** Sends one line to everybody who asks, from now on and to those who already wait. */
  answer(line: string): void
  release(): Promise<void>
}

/** `free`: nobody holds it. Without a line: the holder ended before it had anything to say. */
export type LockAnswer = { readonly held: false } | { readonly held: true; readonly line?: string }

/** The name of a lock on this system; `id` must be safe in a file name, `folder` is used where a file is needed. */
export function lockName(id: string, folder: string, platform: NodeJS.Platform, nodeVersion: string): LockName {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  if (platform === 'linux' && (major > 20 || minor >= 8)) return { path: `\0bax-${id}`, isFile: false }
  if (platform === 'win32') return { path: `\\\\.\\pipe\\bax-lock-${id}`, isFile: false }
  return { path: `${folder}/${id.slice(0, 16)}.lock`, isFile: true }
}

/** Takes the lock; undefined when another process holds it. */
export async function holdLock(name: LockName): Promise<HeldLock | undefined> {
  for (;;) {
    const lock = await bind(name.path)
    if (lock || !name.isFile) return lock
    if (!(await isStale(name.path))) return undefined
    await removeStale(name.path)
  }
}

/** Asks the holder and waits for its line. */
export function askLock(name: LockName, signal?: AbortSignal): Promise<LockAnswer> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = open(name.path, signal, reject)
    socket.on('data', (chunk) => {
      text += String(chunk)
      if (!text.includes('\n')) return
      resolve({ held: true, line: text.slice(0, text.indexOf('\n')) })
      socket.destroy()
    })
    socket.on('close', () => resolve({ held: true }))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (isAbsent(error)) resolve({ held: false })
      else reject(error)
    })
  })
}

/** Resolves when the holder has ended; at once when there is none. */
export function lockReleased(name: LockName, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = open(name.path, signal, reject)
    socket.resume()
    socket.on('error', (error: NodeJS.ErrnoException) => (isAbsent(error) ? resolve() : reject(error)))
    socket.on('close', () => resolve())
  })
}

function open(path: string, signal: AbortSignal | undefined, reject: (reason: unknown) => void): Socket {
  const socket = connect(path)
  const abort = () => {
    reject(signal!.reason)
    socket.destroy()
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  socket.on('close', () => signal?.removeEventListener('abort', abort))
  return socket
}

const isAbsent = (error: NodeJS.ErrnoException) =>
  error.code === 'ECONNREFUSED' || error.code === 'ENOENT' || error.code === 'ECONNRESET'

async function bind(path: string): Promise<HeldLock | undefined> {
  const waiting = new Set<Socket>()
  let said: string | undefined
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    socket.on('close', () => waiting.delete(socket))
    // An asker that goes away is none of the holder's business.
    socket.on('error', () => socket.destroy())
    if (said !== undefined) socket.write(said)
  })
  const bound = await new Promise<boolean>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false)
      else reject(error)
    })
    server.listen(path, () => resolve(true))
  })
  if (!bound) return undefined
  server.unref()
  return {
    answer(line) {
      said = `${line}\n`
      for (const socket of waiting) socket.write(said)
    },
    release: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of waiting) socket.destroy()
      }),
  }
}

/** Whether the file's owner is dead. Between bind and listen a living one refuses too, hence the second look. */
async function isStale(path: string): Promise<boolean> {
  if ((await probe(path)) !== 'refused') return false
  await pause(50)
  return (await probe(path)) === 'refused'
}

async function removeStale(path: string): Promise<void> {
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await rename(path, aside)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  if ((await probe(aside)) === 'alive') await rename(aside, path)
  else await rm(aside, { force: true })
}

function probe(path: string): Promise<'alive' | 'refused' | 'absent'> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve('alive')
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') resolve('refused')
      else if (error.code === 'ENOENT') resolve('absent')
      else reject(error)
    })
  })
}
