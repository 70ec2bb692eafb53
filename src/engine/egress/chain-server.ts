/** A proxy server that fails requests which it cannot pass on, instead of answering them as the site would. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type RequestError, Server } from 'proxy-chain'

/** Why a request was not passed on. */
export interface ChainFailure {
  /** Code of Node for a connection that failed. */
  readonly code?: string | undefined
  /** The reason, as a predicate of the proxy or host: `refused the connection`. */
  readonly reason: string
}

type ServerOptions = ConstructorParameters<typeof Server>[0]

/** Status of a proxy that rejects the user name or password. */
const rejectsLogin = 597

const failures: Readonly<Record<number, ChainFailure>> = {
  404: { code: 'ENOTFOUND', reason: 'could not be resolved' },
  504: { code: 'ETIMEDOUT', reason: 'did not answer' },
  593: { code: 'ENOTFOUND', reason: 'could not be resolved' },
  594: { code: 'ECONNREFUSED', reason: 'refused the connection' },
  595: { code: 'ECONNRESET', reason: 'closed the connection' },
  596: { code: 'ECONNRESET', reason: 'closed the connection' },
  [rejectsLogin]: { reason: 'rejected the user name or the password' },
}

export class ChainServer extends Server {
  readonly #onFailed: (request: IncomingMessage, failure: ChainFailure) => void

  /** `onFailed` is called before the connection of the request is closed. */
  constructor(options: ServerOptions, onFailed: (request: IncomingMessage, failure: ChainFailure) => void) {
    super(options)
    this.#onFailed = onFailed
    // Before the listeners of the library, which answer.
    this.server.prependListener('request', (request, response) => this.#watchResponse(request, response))
    this.server.prependListener('connect', (request, socket) => this.#watchTunnel(request, socket))
  }

  /** Called for errors that the library would answer with a page of its own. */
  override failRequest(request: IncomingMessage, error: Error): void {
    const { name, statusCode } = error as RequestError
    // Refusals of this engine, and requests of programs that do not know the password of this server.
    if (name === 'RequestError' && statusCode !== rejectsLogin) return super.failRequest(request, error)
    this.#onFailed(request, failures[statusCode] ?? { reason: 'failed' })
    request.socket.destroy()
  }

  /** Answers of sites set their head explicitly; the library only sets a status for its own ones. */
  #watchResponse(request: IncomingMessage, response: ServerResponse): void {
    const [writeHead, end] = [response.writeHead.bind(response), response.end.bind(response)] as [Method, Method]
    let isOfSite = false
    const watched: Record<'writeHead' | 'end', Method> = {
      writeHead: (...head) => {
        isOfSite = true
        return writeHead(...head)
      },
      end: (...content) => {
        if (isOfSite) return end(...content)
        this.#onFailed(request, failures[response.statusCode] ?? { reason: 'failed' })
        return request.socket.destroy()
      },
    }
    Object.assign(response, watched)
  }

  /** The browser reports that a tunnel has failed, but not why. */
  #watchTunnel(request: IncomingMessage, socket: Duplex): void {
    const end = socket.end.bind(socket) as Method
    const watched: Method = (...content) => {
      const [, status, text = ''] = /^HTTP\/1\.1 (5\d\d) (.*)/.exec(String(content[0] ?? '')) ?? []
      if (status === undefined) return end(...content)
      const upstream = /^UPSTREAM(\d+)/.exec(text)?.[1]
      const reason = upstream === undefined ? 'failed' : `responded with status ${upstream}`
      this.#onFailed(request, failures[Number(status)] ?? { reason })
      return end(...content)
    }
    Object.assign(socket, { end: watched })
    socket.once('pipe', () => Object.assign(socket, { end }))
  }
}

type Method = (...args: readonly unknown[]) => unknown
