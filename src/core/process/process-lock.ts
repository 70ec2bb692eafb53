/**
 * A lock that a process holds for its lifetime, and whose holder other processes can query.
 *
 * The holder listens on a name that the kernel gives to one process only and releases however that process ends: an
 * abstract socket on Linux, a named pipe on Windows. Otherwise (macOS, and Node before 20.8, which cannot bind abstract
 * names: https://github.com/nodejs/node/issues/49656) see `file-lock.ts`.
 */
import { connectUnlessAborted } from '../net/abortable-socket.ts'
import { acquireFileLock, findFileLock, type HeldLock, listenAsHolder } from './file-lock.ts'

/** Name of a lock: one in the kernel, or the path prefix of socket files. */
export type LockName = { readonly path: string } | { readonly filesFrom: string }

/** Answer of a lock: `held` is false without a holder; without a line the holder ended before it answered. */
export type LockAnswer = { readonly held: false } | { readonly held: true; readonly line?: string }

/** Returns the name of a lock on this system; `id` must be safe in file names, `folder` is for socket files. */
export function lockName(id: string, folder: string, platform: NodeJS.Platform, nodeVersion: string): LockName {
  const [major = 0, minor = 0] = nodeVersion.replace(/^v/, '').split('.').map(Number)
  if (platform === 'linux' && (major > 20 || minor >= 8)) return { path: `\0bax-${id}` }
  if (platform === 'win32') return { path: `\\\\.\\pipe\\bax-lock-${id}` }
  return { filesFrom: `${folder}/${id.slice(0, 16)}` }
}

/** Acquires the lock; returns undefined when another process holds it. */
export const acquireLock = (name: LockName): Promise<HeldLock | undefined> =>
  'path' in name ? listenAsHolder(name.path) : acquireFileLock(name.filesFrom)

/** Returns the socket of the holder, if there is one. */
const holderOf = async (name: LockName): Promise<string | undefined> =>
  'path' in name ? name.path : findFileLock(name.filesFrom)

/** Connects to the holder and waits for its line. */
export async function queryLock(name: LockName, signal?: AbortSignal): Promise<LockAnswer> {
  const path = await holderOf(name)
  if (path === undefined) return { held: false }
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connectUnlessAborted(path, signal, reject)
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

/** Resolves when the holder has ended; immediately when there is none. */
export async function waitForRelease(name: LockName, signal?: AbortSignal): Promise<void> {
  const path = await holderOf(name)
  if (path === undefined) return
  await new Promise<void>((resolve, reject) => {
    const socket = connectUnlessAborted(path, signal, reject)
    socket.resume()
    socket.on('error', (error: NodeJS.ErrnoException) => (isAbsent(error) ? resolve() : reject(error)))
    socket.on('close', () => resolve())
  })
}

const isAbsent = (error: NodeJS.ErrnoException) =>
  error.code === 'ECONNREFUSED' || error.code === 'ENOENT' || error.code === 'ECONNRESET'
