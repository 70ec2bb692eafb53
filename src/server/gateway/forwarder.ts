/** Forwards the requests of a gateway to its workers. */
import type { IncomingMessage } from 'node:http'
import { keyScopes } from '../../core/access/caller.ts'
import type { Allowances } from '../../core/access/quota.ts'
import type { Log } from '../../core/config/config.ts'
import { BaxError } from '../../core/errors/errors.ts'
import type { Directory, WorkerAddress } from '../../core/fleet.ts'
import type { HttpOperation, Operation } from '../../core/operation/operation.ts'
import type { OnAll, OnNew, OnOnly, Placement } from '../../core/operation/placement.ts'
import type { ParsedInput } from '../../core/operation/input/valid-input.ts'
import type { FleetProvisions } from '../../core/provisions.ts'
import { sessionInput } from '../../core/shapes/session.ts'
import { type ForwardedRequests, forwardedHeader } from '../access/signed-caller.ts'
import type { AppContext } from '../request/env.ts'
import { callOf, type HandlerContext } from '../request/handlers.ts'
import { operationList } from '../request/routes.ts'
import { askAll } from './ask-all.ts'
import { type Dispatched, Dispatcher, isOnOne, mostOf, noSlot, type OnOne, type Sent } from './dispatch.ts'
import { type ForwardedRequest, readRequest } from './read-request.ts'
import { whyUnreachable } from './reach.ts'
import { type Refused, refusalOf } from './refusals.ts'
import { readable } from './headers.ts'
import { relayResponse } from './relayed-response.ts'
import { LostWorker, WorkerRequests } from './worker-requests.ts'

export interface GatewayOptions {
  readonly directory: Directory
  readonly signer: Pick<ForwardedRequests, 'sign'>
  /** Secret of the fleet. */
  readonly secret: Buffer
  /** Quotas that the directory enforces over all workers. */
  readonly allowances: Allowances
  /** Certificates of the CAs that are trusted for workers instead of the public ones. */
  readonly ca?: string | undefined
  /** Sessions that wait for a worker; without it, requests fail when no slot is free. */
  readonly provisions?: FleetProvisions | undefined
  readonly log: Log
}

/** Context of a forwarded request. */
interface Scope {
  readonly context: AppContext
  readonly services: HandlerContext
  /** Runs the operation in the gateway. */
  readonly local: (parsed: ParsedInput) => Promise<Response>
}

export class Forwarder {
  readonly requests: WorkerRequests
  readonly dispatcher: Dispatcher
  readonly options: GatewayOptions
  /** IDs of the workers that were reported because they do not trust this gateway. */
  readonly #distrusting = new Set<string>()

  constructor(options: GatewayOptions) {
    this.options = options
    this.requests = new WorkerRequests(options)
    this.dispatcher = new Dispatcher(options.directory, options.allowances)
  }

  close(): void {
    this.requests.close()
  }

  /** Returns why a worker cannot be reached; null if it responds. */
  whyUnreachable(worker: WorkerAddress): Promise<string | null> {
    return whyUnreachable(this.requests, worker, this.options.signer)
  }

  /**
   * Waits for a request to a worker.
   * @throws LostWorker, which is logged once if the worker and this gateway do not trust each other
   */
  async trusting<T>(worker: WorkerAddress, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      const reason = error instanceof LostWorker ? error.cause : undefined
      if (reason instanceof BaxError && !this.#distrusting.has(worker.id)) {
        this.#distrusting.add(worker.id)
        this.options.log('error', reason.message, { url: worker.url, hint: reason.hint })
      }
      throw error
    }
  }

  /**
   * Returns the refusal of a worker; undefined if it has accepted the request.
   * @throws LostWorker if it does not trust this gateway
   */
  async refusalOf(response: IncomingMessage, worker: WorkerAddress): Promise<Refused | undefined> {
    const refused = await this.trusting(worker, refusalOf(response, worker))
    this.#distrusting.delete(worker.id)
    return refused
  }

  /** Runs a request where its operation belongs; `local` runs it in the gateway. */
  async handle(
    context: AppContext,
    endpoint: HttpOperation,
    services: HandlerContext,
    local: (parsed?: ParsedInput) => Promise<Response>,
  ): Promise<Response> {
    if (endpoint.runs.on === 'gateway') return local()
    const memory = services.bodies.open(context.get('caller'))
    try {
      const request = await readRequest(context, endpoint, services, memory)
      return await this.#once(request, { context, services, local })
    } finally {
      memory.close()
    }
  }

  /** Runs a request with an idempotency key once, whatever the worker. */
  async #once(request: ForwardedRequest, scope: Scope): Promise<Response> {
    const { endpoint, caller, signal } = request
    const { context, services } = scope
    const run = () => this.#run(placementOf(endpoint), request, scope)
    if (!('idempotent' in endpoint) || !context.req.header('idempotency-key')) return run()
    const key = { operation: endpoint.http, caller, headers: context.req.raw.headers, signal }
    const { status, body } = await services.idempotency.once(key, request.parsed().input, async () => {
      const response = await run()
      const body = (await response.json()) as Record<string, unknown>
      if (response.status >= 400) throw BaxError.fromBody(body)
      return { status: response.status, body }
    })
    return context.json(body, status as 200)
  }

  async #run(runs: Placement, request: ForwardedRequest, scope: Scope): Promise<Response> {
    if (runs.on === 'object' && runs.absent && request.fields[runs.field] === undefined) {
      if (runs.absent.on === 'new') return this.#create(runs.absent, request, scope, runs.field)
      return this.#run(runs.absent, request, scope)
    }
    if (runs.on === 'all') return this.#onAll(runs, request, scope)
    if (runs.on === 'only') return this.#onOnly(runs, request, scope)
    if (runs.on === 'new') return this.#create(runs, request, scope)
    return this.#responseOf(
      isOnOne(runs) ? await this.#dispatch(runs, request, scope) : { on: 'gateway' },
      request,
      scope,
    )
  }

  #responseOf(
    done: Dispatched<Response>,
    { parsed }: ForwardedRequest,
    { local }: Scope,
  ): Promise<Response> | Response {
    if (done.on === 'full') throw noSlot(done.slot)
    return done.on === 'worker' ? done.value : local(parsed())
  }

  #dispatch(runs: OnOne, request: ForwardedRequest, { context }: Scope): Promise<Dispatched<Response>> {
    const { fields, parsed, caller, hasToken } = request
    return this.dispatcher.dispatch<Response>(runs, {
      fields,
      input: () => parsed().input,
      caller,
      hasToken,
      run: async (worker, reservation): Promise<Sent<Response>> => {
        const response = await this.#send(request, worker, reservation)
        const refused = await this.refusalOf(response, worker)
        if (refused) return { as: 'refused', ...refused }
        const status = response.statusCode!
        const value = await relayResponse(context, response)
        return status >= 400 ? { as: 'failed', value, status } : { as: 'done', value }
      },
    })
  }

  /**
   * Creates an object on a worker with a free slot; without one, a session is provisioned. With `field`, the input has no
   * session in that field, and the request waits for the new one.
   */
  async #create(runs: OnNew, request: ForwardedRequest, scope: Scope, field?: string): Promise<Response> {
    const { provisions, allowances } = this.options
    const parsed = request.parsed()
    // New sessions do not overtake those that wait for a worker.
    const isQueued = runs.slot === 'session' && provisions !== undefined && (await provisions.waiting()) > 0
    const done = isQueued ? { on: 'full' as const, slot: runs.slot } : await this.#dispatch(runs, request, scope)
    if (done.on !== 'full' || runs.slot !== 'session' || !provisions) return this.#responseOf(done, request, scope)
    const { caller, signal, body } = request
    if (field === undefined) return scope.local(parsed)
    const { headless } = parsed.input as { headless?: boolean }
    const input = sessionInput.parse({ ...(headless !== undefined && { headless }) })
    const call = { ...callOf(scope.context, scope.services), signal }
    const provision = await provisions.begin({ input, most: mostOf(runs.slot, caller, allowances) }, call)
    const { session_id: id } = await provisions.wait(provision, call)
    const json = JSON.parse(new TextDecoder().decode(body as Uint8Array)) as Record<string, unknown>
    const named = { ...withField(request, field, id!), body: Buffer.from(JSON.stringify({ ...json, [field]: id })) }
    return this.#run(placementOf(request.endpoint), named, scope)
  }

  async #onAll(runs: OnAll, request: ForwardedRequest, { context, services }: Scope): Promise<Response> {
    const { endpoint } = request
    const parsed = request.parsed()
    const { output, warning } = await askAll({
      directory: this.options.directory,
      runs,
      input: parsed.input,
      send: (worker) => this.#accepted(request, worker),
      own: () => (endpoint as Operation).run(services.engine, parsed.input, callOf(context, services)),
    })
    const joined = [parsed.warning, warning].filter(Boolean).join('; ')
    return context.json({ ...(output as Record<string, unknown>), ...(joined && { warning: joined }) })
  }

  /** Runs a request for the only object that the caller sees. */
  async #onOnly(runs: OnOnly, request: ForwardedRequest, scope: Scope): Promise<Response> {
    const [http, query = ''] = runs.list.split('?')
    const list = operationList.find((operation) => operation.http === http)!
    const { caller, target } = request
    request.parsed()
    // The list requires another scope than the operation; it shows the caller nothing of other keys.
    const asked: ForwardedRequest = {
      ...request,
      method: 'GET',
      target: `${http!.slice('GET '.length)}?${query}`,
      body: undefined,
      caller: caller.keyId === null ? caller : { ...caller, scopes: keyScopes },
    }
    const { output } = await askAll({
      directory: this.options.directory,
      runs: list.runs as OnAll,
      input: {},
      send: (worker) => this.#accepted(asked, worker),
      own: async () => ({}),
    })
    const id = runs.pick(output)
    const { field } = request.endpoint.runs as { readonly field: string }
    const separator = target.includes('?') ? '&' : '?'
    const named = {
      ...withField(request, field, id),
      target: `${target}${separator}${field}=${encodeURIComponent(id)}`,
    }
    return this.#run(placementOf(request.endpoint), named, scope)
  }

  async #accepted(request: ForwardedRequest, worker: WorkerAddress): Promise<IncomingMessage> {
    const response = await this.#send(request, worker)
    const refused = await this.refusalOf(response, worker)
    if (refused?.lacks) throw refused.lacks
    return response
  }

  #send(
    { method, target, headers, body, signal, caller, requestId }: ForwardedRequest,
    worker: WorkerAddress,
    reservation?: string,
  ): Promise<IncomingMessage> {
    const facts = { caller, requestId, ...(reservation !== undefined && { reservation }) }
    const outgoing = { method, target, body, worker: worker.id, headers: readable(headers) }
    const signature = this.options.signer.sign(outgoing, facts)
    const sent = {
      method,
      target,
      body,
      signal,
      signature,
      headers: { ...headers, [forwardedHeader]: signature.header },
    }
    return this.trusting(worker, this.requests.send(worker, sent))
  }
}

const placementOf = ({ runs }: HttpOperation): Placement => runs as Placement

/** Returns a request as if its input had the field. */
function withField(request: ForwardedRequest, field: string, value: string): ForwardedRequest {
  const parsed = request.parsed()
  const named = { ...parsed, input: { ...parsed.input, [field]: value } }
  return { ...request, fields: { ...request.fields, [field]: value }, parsed: () => named }
}
