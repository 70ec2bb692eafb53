/** Sockets are operations that continue as a duplex link: a websocket, opened by an upgrade. */
import type { z } from 'zod'
import type { SocketCall } from './call.ts'
import type { Engine } from '../engine.ts'
import type { Link } from '../net/link.ts'
import type { Endpoint } from './operation.ts'

export interface SocketOperation<In extends z.ZodObject = z.ZodObject> extends Endpoint<In> {
  /** Path template; the method of an upgrade is always GET. */
  readonly http: `GET /${string}`
  /** Required subprotocol; none when absent. */
  readonly protocol?: string
  /** Longest accepted message in bytes, uncompressed; a longer one closes the socket with code 1009. */
  readonly messageBytes: number
  /** Compresses long messages to remote clients. Compressed messages from clients may expand to `messageBytes`. */
  readonly compressed?: true
  /** Checks the caller before the upgrade; the returned function receives the open link. */
  open(engine: Engine, input: z.output<In>, call: SocketCall): Promise<(link: Link) => void>
}

export function defineSocket<In extends z.ZodObject>(socket: SocketOperation<In>): SocketOperation<In> {
  return socket
}
