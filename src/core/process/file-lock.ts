/**
 * A lock made of socket files, for systems whose kernel has no names that vanish with their process.
 *
 * Every taker first listens on a file of its own and only then looks for others. Of two takers at least one therefore
 * sees the other, and whoever sees another gives up: there are never two holders. A file whose process is dead refuses
 * connections and is removed; names are never used twice, so that nobody removes a living one by mistake.
 */
import { randomBytes, randomInt } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type HeldLock, listenAsHolder } from './lock-holder.ts'

/** Two takers at once both give up and try again after a different time; a holder is there at every try. */
const tries = 5

/** A file that was made this recently may belong to a process that has bound it and does not listen yet. */
const youngMs = 1000

export async function holdFileLock(prefix: string): Promise<HeldLock | undefined> {
  for (let attempt = 0; attempt < tries; attempt += 1) {
    const own = `${prefix}.${randomBytes(6).toString('hex')}.lock`
    const lock = await listenAsHolder(own)
    if (lock && (await living(prefix, own)).length === 0) return lock
    await lock?.release()
    await pause(randomInt(10, 100))
  }
  return undefined
}

/** The file of the holder, or of a taker that is still looking; undefined when there is none. */
export const findFileLock = async (prefix: string): Promise<string | undefined> => (await living(prefix))[0]

/** Files of living processes beside `own`; those of dead ones are removed. */
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
      // It ended while it was asked; whoever looks again will know.
      else if (error.code === 'ECONNRESET') resolve(true)
      else reject(error)
    })
  })
}
