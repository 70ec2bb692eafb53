/** Connects to a local socket; on abort, closes it and calls `reject` with the reason. */
import { connect, type Socket } from 'node:net'

export function connectUnlessAborted(
  path: string,
  signal: AbortSignal | undefined,
  reject: (reason: unknown) => void,
): Socket {
  const socket = connect(path)
  const abort = () => {
    reject(signal?.reason)
    socket.destroy()
  }
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  socket.on('close', () => signal?.removeEventListener('abort', abort))
  return socket
}
