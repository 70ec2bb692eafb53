/** Connects to the input and output of the first process of a container. */
import type Dockerode from 'dockerode'
import type { Duplex } from 'node:stream'
import { demultiplex } from '../agent/docker-stream.ts'

export interface Attachment {
  write(bytes: Uint8Array): void
  /** Resolves when the connection has ended on either side. */
  readonly closed: Promise<void>
  close(): void
}

interface Receiver {
  /** @throws an error if the connection is unusable. */
  stdout(bytes: Buffer): void
  stderr(text: string): void
}

/** Attaches to a created container before it is started, so that no output is missed. */
export async function attach(docker: Dockerode, id: string, receiver: Receiver): Promise<Attachment> {
  const socket = await hijack(docker, id)
  const push = demultiplex((name, bytes) => {
    if (name === 'stdout') receiver.stdout(bytes)
    else receiver.stderr(bytes.toString())
  })
  const closed = new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.once('end', resolve)
  })
  socket.on('data', (bytes: Buffer) => {
    try {
      push(bytes)
    } catch {
      // The data is invalid: nothing more can be read.
      socket.destroy()
    }
  })
  return {
    write: (bytes) => void (socket.destroyed || socket.write(bytes)),
    closed,
    close: () => socket.destroy(),
  }
}

/**
 * Attaches without the client's own `attach`, which also sends its options as a body; Podman would pass them to the
 * container as input. The client drops the last character of the path.
 */
function hijack(docker: Dockerode, id: string): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const request = {
      path: `/containers/${id}/attach?stream=1&stdin=1&stdout=1&stderr=1&`,
      method: 'POST',
      file: Buffer.alloc(0),
      isStream: true,
      hijack: true,
      openStdin: true,
      statusCodes: { 200: true, 101: true, 404: 'no such container', 500: 'server error' },
    }
    docker.modem.dial(request, (error: Error | null, stream: unknown) => {
      if (error) return reject(error)
      const socket = stream as Duplex
      // Attach immediately: an error event without a handler would end the process.
      socket.on('error', () => socket.destroy())
      resolve(socket)
    })
  })
}
