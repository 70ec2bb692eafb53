/** A socket is an operation that goes on as a duplex link: a websocket, opened by an upgrade. */
import type { z } from 'zod'
import type { Access } from '../access/caller.ts'
import type { Engine } from '../engine.ts'
import type { ErrorCode } from '../errors/errors.ts'
import type { Link } from '../net/link.ts'
import type { Call } from './operation.ts'

export interface SocketCall extends Call {
  /** A token that the caller shows in a header or among the subprotocols; null when it has shown a key, or nothing. */
  readonly token: string | null
  /** The caller is the machine's own user: it came over a private socket, or from within the process. */
  readonly own: boolean
}

export interface SocketOperation<In extends z.ZodObject = z.ZodObject> extends Access {
  readonly summary: string
  readonly description?: string
  /** Path template; the method of an upgrade is always GET. */
  readonly http: `GET /${string}`
  /** Subprotocol that both sides speak; none is asked for where it is left out. */
  readonly protocol?: string
  /** Longest message that the server takes, in bytes and unpacked; a longer one closes the socket with 1009. */
  readonly messageBytes: number
  /** Long messages go compressed where the way is long. Short messages of the other side may unpack to `messageBytes`. */
  readonly compressed?: true
  /** Fields of path and query. */
  readonly input: In
  readonly errors?: readonly ErrorCode[]
  /** Checks the caller before anything is upgraded; what it returns takes the open link. */
  open(engine: Engine, input: z.output<In>, call: SocketCall): Promise<(link: Link) => void>
}

export function defineSocket<In extends z.ZodObject>(socket: SocketOperation<In>): SocketOperation<In> {
  return socket
}
