/** The side of a lock that holds it: a listener that answers with one line. */
import { createServer, type Socket } from 'node:net'

export interface HeldLock {
  /** Sends one line to everybody who asks, from now on and to those who already wait. */
  answer(line: string): void
  release(): Promise<void>
}

/** Listens on a name and answers; undefined when another process listens there. */
export async function listenAsHolder(path: string): Promise<HeldLock | undefined> {
  const waiting = new Set<Socket>()
  let said: string | undefined
  const server = createServer((socket) => {
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
