/** Requests of a gateway to its workers, over connections that are kept open. */
import { randomBytes } from 'node:crypto'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Agent, request } from 'node:https'
import { isIP } from 'node:net'
import type { Duplex } from 'node:stream'
import { BaxError, type ErrorExtras } from '../../core/errors/errors.ts'
import type { Directory, WorkerAddress } from '../../core/fleet.ts'
import { limits } from '../../core/limits/limits.ts'
import { gatewayChannel, isOtherSecret, lacksSecret } from '../access/fleet-channel.ts'
import { bodyTrailer } from '../access/signed-body.ts'
import { invalidSignature, type Refusal, refusedHeader, type Signature } from '../access/signed-caller.ts'

export interface WorkerRequest {
  readonly method: string
  /** Path with query. */
  readonly target: string
  readonly headers: OutgoingHttpHeaders
  readonly body?: Uint8Array | NodeJS.ReadableStream | undefined
  /** Absent for a request that only looks for a worker; otherwise the answer must be signed too. */
  readonly signature?: Signature | undefined
  /** Cancels the request, and its response unless that is complete. */
  readonly signal: AbortSignal
}

/** A connection to a worker that failed before the response began, or a worker that does not trust the gateway. */
export class LostWorker extends Error {
  /** Whether the worker may have run the request. */
  readonly sent: boolean
  /** Whether it has rejected a connection with another secret. */
  readonly isOtherSecret: boolean

  constructor(cause: Error, sent: boolean, isOtherSecret = false) {
    super(cause.message, { cause })
    this.sent = sent
    this.isOtherSecret = isOtherSecret
  }
}

/** A response that switches protocols, with the socket and its first bytes. */
interface Upgraded {
  readonly response: IncomingMessage
  readonly socket: Duplex
  readonly head: Buffer
}

interface WorkerTrust {
  readonly directory: Pick<Directory, 'workers'>
  readonly ca?: string | undefined
  /** Secret of the fleet. */
  readonly secret?: Buffer | undefined
}

interface WorkerHost {
  readonly host: string
  readonly port: string
  /** Whether it has a certificate. */
  readonly isSecure: boolean
}

const keptOpen = { keepAlive: true, timeout: limits.gateway.idleMs, maxFreeSockets: 1024 }

export class WorkerRequests {
  /** Every connection proves the secret, so none continues the TLS session of another one. */
  readonly #channelAgent = new Agent({ ...keptOpen, maxCachedSessions: 0 })
  readonly #secureAgent = new Agent(keptOpen)
  readonly #channel: ReturnType<typeof gatewayChannel>
  /** Certificates of the CAs that are trusted instead of the public ones. */
  readonly #trust: { readonly ca?: string }
  readonly #directory: Pick<Directory, 'workers'>
  /** Ends open requests and websockets, by the ID of their worker. */
  readonly #open = new Map<string, Set<(error: Error) => void>>()
  readonly #watch: NodeJS.Timeout
  /** Hosts of workers by URL. */
  readonly #hosts = new Map<string, WorkerHost>()
  #isClosed = false

  /** Without the secret, requests only tell whether a worker is there. */
  constructor({ directory, ca, secret }: WorkerTrust) {
    this.#directory = directory
    this.#channel = gatewayChannel(secret ?? randomBytes(limits.gateway.secretBytes))
    this.#trust = ca === undefined ? {} : { ca }
    this.#watch = setInterval(() => void this.#endLost(), limits.gateway.watchMs).unref()
  }

  /** Returns the beginning of the response. @throws LostWorker, or the reason of the signal */
  async send(worker: WorkerAddress, sent: WorkerRequest): Promise<IncomingMessage> {
    const outcome = await this.#start(worker, sent, true)
    if ('head' in outcome) {
      outcome.socket.destroy()
      throw new LostWorker(new Error('the worker switched protocols'), true)
    }
    assertAnswered(outcome, worker, sent)
    return outcome
  }

  /** Sends an upgrade request; a response without an upgrade is returned as it is. @throws LostWorker */
  async upgrade(worker: WorkerAddress, sent: WorkerRequest): Promise<Upgraded | IncomingMessage> {
    // Upgraded connections cannot be used again.
    const outcome = await this.#start(worker, sent, false)
    assertAnswered('head' in outcome ? outcome.response : outcome, worker, sent)
    return outcome
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#watch)
    this.#channelAgent.destroy()
    this.#secureAgent.destroy()
  }

  #start(worker: WorkerAddress, sent: WorkerRequest, keepsOpen: boolean): Promise<Upgraded | IncomingMessage> {
    const { body, signal } = sent
    signal.throwIfAborted()
    // Requests that this has ended are not repeated on other workers.
    if (this.#isClosed) throw new BaxError('shutting_down', 'the gateway is shutting down', { retryAfterSecs: 1 })
    return new Promise((resolve, reject) => {
      const outgoing = this.#requestTo(worker, sent, keepsOpen)
      let connected = false
      let response: IncomingMessage | undefined
      let upgraded: Duplex | undefined
      const abort = () => end(signal.reason as Error)
      const end = (error: Error) => {
        outgoing.destroy(error)
        response?.destroy(error)
        upgraded?.destroy()
      }
      const release = this.#track(worker.id, end)
      const finish = () => {
        release()
        signal.removeEventListener('abort', abort)
      }
      signal.addEventListener('abort', abort, { once: true })
      outgoing.once('socket', (socket) => {
        if (!socket.connecting) return void (connected = true)
        const timer = setTimeout(() => outgoing.destroy(new Error('timed out connecting')), limits.gateway.connectMs)
        socket.once('secureConnect', () => {
          connected = true
          clearTimeout(timer)
        })
        socket.once('close', () => clearTimeout(timer))
      })
      outgoing.on('error', (error) => {
        // The worker may respond without having read the whole body.
        if (response || upgraded) return
        finish()
        reject(signal.aborted ? (signal.reason as Error) : this.#lostBy(error, worker, connected))
      })
      outgoing.once('response', (received) => {
        response = received
        received.once('close', finish)
        // Readers of the body get the error; without one it must not be uncaught.
        received.on('error', () => {})
        resolve(received)
      })
      outgoing.once('upgrade', (received, socket, head) => {
        upgraded = socket
        socket.once('close', finish)
        resolve({ response: received, socket, head })
      })
      if (body === undefined) outgoing.end()
      // As text of single bytes, so that headers and body are one write; two of them take longer.
      else if (body instanceof Uint8Array) outgoing.end(Buffer.from(body).toString('latin1'), 'latin1')
      else sendStream(body, outgoing, sent.signature)
    })
  }

  #requestTo(
    worker: WorkerAddress,
    { method, target, headers, body }: WorkerRequest,
    keepsOpen: boolean,
  ): ClientRequest {
    const { isSecure, ...address } = this.#hostOf(worker)
    const agent = keepsOpen && (isSecure ? this.#secureAgent : this.#channelAgent)
    // Node stores the entries of an object one by one before it writes them, which takes longer than a list.
    const sent =
      body instanceof Uint8Array ? listOf(headers, body) : body ? { ...headers, trailer: bodyTrailer } : headers
    const line = { ...address, agent, method, path: target, headers: sent, setHost: false }
    if (!isSecure) return request({ ...line, ...this.#channel })
    // By default the name in the certificate would have to be that of the header `Host`, which is the gateway's.
    return request({ ...line, ...this.#trust, servername: isIP(address.host) ? '' : address.host })
  }

  /** Returns the host and port of a worker, whose URL is parsed once. */
  #hostOf({ url }: WorkerAddress): WorkerHost {
    const known = this.#hosts.get(url)
    if (known) return known
    const { protocol, hostname, port } = new URL(url)
    const parsed = { host: hostname.replace(/^\[|\]$/g, ''), port, isSecure: protocol === 'https:' }
    if (this.#hosts.size >= limits.gateway.cachedObjects) this.#hosts.clear()
    this.#hosts.set(url, parsed)
    return parsed
  }

  /** Returns the error of a connection that failed. */
  #lostBy(error: Error, worker: WorkerAddress, connected: boolean): LostWorker {
    const { isSecure } = this.#hostOf(worker)
    if (connected || isSecure || !lacksSecret(error)) return new LostWorker(error, connected)
    if (isOtherSecret(error))
      return new LostWorker(
        refusedError(worker.id, invalidSignature.message, { hint: invalidSignature.hint }),
        false,
        true,
      )
    const message = `the program at the URL of the worker ${worker.id} does not have the secret of the fleet`
    const hint = `check which program listens at ${worker.url}`
    return new LostWorker(new BaxError('fleet_unavailable', message, { hint, cause: error }), false)
  }

  #track(workerId: string, end: (error: Error) => void): () => void {
    const ends = this.#open.get(workerId) ?? new Set()
    this.#open.set(workerId, ends)
    ends.add(end)
    return () => {
      ends.delete(end)
      if (ends.size === 0 && this.#open.get(workerId) === ends) this.#open.delete(workerId)
    }
  }

  /** Ends the requests to workers that have lost their lease: a partitioned worker never responds. */
  async #endLost(): Promise<void> {
    if (this.#open.size === 0) return
    // While Redis is away nobody knows which workers are lost.
    const live = await this.#directory.workers().catch(() => undefined)
    if (!live) return
    const ids = new Set(live.map(({ id }) => id))
    for (const [id, ends] of this.#open) if (!ids.has(id)) for (const end of ends) end(new Error('the worker was lost'))
  }
}

/**
 * Sends a body until it ends, or the worker responds or is lost. What the client still sends then is left to the server:
 * `pipeline` would destroy the request of the client, and the rest of its body would block the connection.
 */
function sendStream(body: NodeJS.ReadableStream, outgoing: ClientRequest, signature?: Signature): void {
  // The worker may reject the request before the client sends the first byte of its body.
  outgoing.flushHeaders()
  const hash = signature?.bodyHash()
  const update = (chunk: Uint8Array) => void hash?.update(chunk)
  const fail = (error: Error) => outgoing.destroy(error)
  const finish = () => {
    if (outgoing.destroyed) return
    if (hash) outgoing.addTrailers({ [bodyTrailer]: hash.digest('base64url') })
    outgoing.end()
  }
  body.once('error', fail)
  outgoing.once('close', () => body.off('error', fail).off('data', update).off('end', finish))
  outgoing.once('response', (response) => {
    if (outgoing.writableEnded) return
    // The rest of the body is not sent: the signature of a part of it would be valid.
    body.off('data', update).off('end', finish).unpipe(outgoing)
    // A connection with half a request cannot be used again.
    response.once('close', () => outgoing.destroy())
  })
  body.on('data', update)
  body.once('end', finish)
  body.pipe(outgoing, { end: false })
}

/** @throws LostWorker if the answer is not that of a worker with the secret of this gateway */
function assertAnswered(answer: IncomingMessage, { id, url }: WorkerAddress, { signature }: WorkerRequest): void {
  if (!signature || signature.isAnswered(answer)) return
  answer.destroy()
  const { statusCode, headers } = answer
  // Not proven: a program that can change answers can have the request repeated on another worker.
  if (headers[refusedHeader] === ('signature' satisfies Refusal))
    throw new LostWorker(refusedError(id, invalidSignature.message, { hint: invalidSignature.hint }), false)
  const message = `the answer of the worker ${id} (status ${statusCode}) is not signed with the secret of the fleet`
  const hint = `check which program listens at ${url}`
  // A worker may have run the request, and something in between may have changed the answer.
  throw new LostWorker(new BaxError('fleet_unavailable', message, { hint }), true)
}

/** The error about a worker that does not trust this gateway. */
export const refusedError = (workerId: string, reason: string, more: ErrorExtras): BaxError =>
  new BaxError('fleet_unavailable', `the worker ${workerId} refuses this gateway: ${reason}`, more)

/** Returns headers as names and values in turn, with the length of the body. */
function listOf(headers: OutgoingHttpHeaders, { length }: Uint8Array): string[] {
  const list = ['content-length', String(length)]
  for (const [name, value] of Object.entries(headers))
    for (const one of Array.isArray(value) ? value : [value]) list.push(name, String(one))
  return list
}

/** The error of a request whose worker was lost before it had responded, or could not be reached at all. */
export function workerLost(cause: unknown): BaxError {
  if (cause instanceof LostWorker && cause.cause instanceof BaxError) return cause.cause
  const isUnsent = cause instanceof LostWorker && !cause.sent
  const [message, hint] = isUnsent
    ? ['the worker could not be reached', 'retry; "bax fleet status" shows the reason to the operator']
    : ['the worker was lost before it had responded', 'check whether the request had an effect before you repeat it']
  return new BaxError('worker_lost', message, { cause, hint, retryAfterSecs: limits.overload.retryAfterSecs })
}
