/**
 * A lock made of socket files, for systems without names that the kernel releases when their process ends.
 *
 * Every contender first listens on a file of its own and only then looks for others. Of two contenders at least one
 * therefore sees the other and gives up, so there are never two holders. The file of a dead process refuses connections
 * and is removed; names are never reused, so that no live file is removed by mistake.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** Two contenders may both give up; they retry after random delays. A holder is found on every try. */
const tries = 5

/** Files younger than this may belong to a process that has bound the socket but does not listen yet. */
const youngMs = 1000

export async function acquireFileLock(prefix: string): Promise<HeldLock | undefined> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const own = `${prefix}.${randomBytes(6).toString('hex')}.lock`
    const lock = await listenAsHolder(own)
    if (lock && (await living(prefix, own)).length === 0) return lock
    await lock?.release()
    await pause(randomInt(10, 100))
  }
  return undefined
}

/** Returns the file of the holder, or of a process that is still acquiring the lock; undefined when there is none. */
export const findFileLock = async (prefix: string): Promise<string | undefined> => (await living(prefix))[0]

/** Returns the files of live processes other than `own`; removes those of dead ones. */
async function living(prefix: string, own?: string): Promise<string[]> {
  const folder = dirname(prefix)
  const names = (await readdir(folder)).filter(
    (name) => name.startsWith(`${basename(prefix)}.`) && name.endsWith('.lock') && join(folder, name) !== own,
  )
  const alive = await Promise.all(names.map((name) => isAlive(join(folder, name))))
  return names.filter((_, at) => alive[at]).map((name) => join(folder, name))
}

async function isAlive(path: string): Promise<boolean> {
  if (await answers(path)) return true
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  if (!found) return false
  if (Date.now() - found.mtimeMs < youngMs) return true
  await rm(path, { force: true })
  return false
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false)
      // The process ended while it was queried; the next look will find its file dead.
      else if (error.code === 'ECONNRESET') resolve(true)
      else reject(error)
    })
  })
}

export interface HeldLock {
  /** Sends one line to all current and future connections. */
  publish(line: string): void
  release(): Promise<void>
}

/** Listens on a name; returns undefined when another process already does. */
export async function listenAsHolder(path: string): Promise<HeldLock | undefined> {
  const waiting = new Set<Socket>()
  let said: string | undefined
  const server = createServer((socket) => {
    waiting.add(socket)
    socket.on('close', () => waiting.delete(socket))
    // Clients may disconnect at any time.
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
    publish(line) {
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
