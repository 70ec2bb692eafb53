/** A CDP client without a library, for calls that no library makes. */
import { once } from 'node:events'
import { WebSocket } from 'ws'
import { waitUntil } from './wait.ts'

type Result = Record<string, unknown>

interface CdpEvent {
  readonly method: string
  readonly params: Result
  readonly sessionId?: string
}

export interface CdpClient {
  readonly events: readonly CdpEvent[]
  /** Calls a method; rejects with `CODE MESSAGE` of a protocol error. */
  send(method: string, params?: object, sessionId?: string): Promise<Result>
  /** Returns the first event that matches, which may have arrived already. */
  event(method: string, matches?: (event: CdpEvent) => boolean): Promise<CdpEvent>
  /** Returns the ID of a new protocol session on a target. */
  attach(targetId: string): Promise<string>
  close(): Promise<void>
}

export async function connectCdp(address: string): Promise<CdpClient> {
  const socket = new WebSocket(address)
  const pending = new Map<number, { resolve: (result: Result) => void; reject: (error: Error) => void }>()
  const events: CdpEvent[] = []
  let lastId = 0
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as CdpEvent & {
      id?: number
      result: Result
      error?: { code: number; message: string }
    }
    if (message.id === undefined) return events.push(message)
    const call = pending.get(message.id)!
    pending.delete(message.id)
    if (message.error) call.reject(new Error(`${message.error.code} ${message.error.message}`))
    else call.resolve(message.result)
  })
  await once(socket, 'open')
  const send: CdpClient['send'] = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = ++lastId
      pending.set(id, { resolve, reject })
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }))
    })
  return {
    events,
    send,
    event: async (method, matches = () => true) => {
      const find = () => events.find((event) => event.method === method && matches(event))
      await waitUntil(async () => find() !== undefined)
      return find()!
    },
    attach: async (targetId) =>
      (await send('Target.attachToTarget', { targetId, flatten: true }))['sessionId'] as string,
    close: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}
