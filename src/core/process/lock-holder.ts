/** The holder of a process lock: a listener that answers each connection with one line. */
import { createServer, type Socket } from 'node:net'

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
