/**
 * Calls operations for commands that run in the process of the engine. The answers are those of the app; a request, its
 * route and its response take longer there than most operations. Everything but plain JSON is left to the app.
 */
import { keylessCaller } from '../../core/access/caller.ts'
import type { Engine } from '../../core/engine.ts'
import { asBaxError, type BaxError } from '../../core/errors/errors.ts'
import { withSystemCause } from '../../core/errors/system-errors.ts'
import { withWrittenNames } from '../../core/operation/input/given-fields.ts'
import { newId } from '../../core/ids.ts'
import type { Operation } from '../../core/operation/operation.ts'
import type { WireRequest, WireResponse } from '../../client/transport.ts'
import { headersOf } from './error-response.ts'
import { answerOf } from './handlers.ts'
import { fieldsOf, isBodiless } from './input.ts'
import { validateInput } from '../../core/operation/input/valid-input.ts'
import { operationAt } from './routes.ts'

interface Services {
  readonly engine: Engine
  readonly sockets: `http${string}`
  readonly onError: (error: BaxError, requestId: string) => void
}

/** Returns the call of a request; undefined if the app has to answer it. */
export type DirectCalls = (request: WireRequest) => (() => Promise<WireResponse>) | undefined

/** Matches paths that are the same after a URL is parsed. */
const plainPath = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~:-]+)+$/

const knownHeaders: ReadonlySet<string> = new Set(['content-type', 'prefer'])

/** Returns the direct calls of an engine that only the machine's own user can reach. */
export const directCalls =
  (services: Services): DirectCalls =>
  (request) => {
    const { method, path, headers = {}, bytes, body } = request
    const [pathname = ''] = path.split('?', 1)
    if (body !== undefined && isBodiless(method)) return undefined
    if (bytes || !plainPath.test(pathname) || Object.keys(headers).some((name) => !knownHeaders.has(name)))
      return undefined
    const found = operationAt(method, pathname)
    return found && isPlain(found.operation) ? () => answer(request, found, services) : undefined
  }

const isPlain = ({ idempotent, heavy, asks, lines, text, output }: Operation): boolean =>
  !idempotent && !heavy && !asks && !lines && text === undefined && output !== null

async function answer(
  { path, headers = {}, body, signal = new AbortController().signal }: WireRequest,
  { operation, fields: inPath }: { readonly operation: Operation; readonly fields: Record<string, string> },
  { engine, sockets: socketBaseUrl, onError }: Services,
): Promise<WireResponse> {
  const requestId = newId('req')
  const { prefer = '' } = headers
  let answered: { readonly body: object; readonly status: number; readonly more?: Record<string, string> }
  try {
    const fields = fieldsOf({ url: `http://localhost${path}`, body, path: inPath }, operation)
    const parsed = validateInput(operation.input, fields, prefer.includes('handling=strict'))
    const call = {
      caller: keylessCaller,
      signal,
      baseUrl: '',
      socketBaseUrl,
      requestId,
      token: null,
      preferAsync: prefer.includes('respond-async'),
    }
    answered = answerOf(
      operation,
      await withWrittenNames(parsed.input, () => operation.run(engine, parsed.input, call)),
      parsed,
    )
  } catch (thrown) {
    const error = asBaxError(thrown)
    if (error.status === 500) onError(error, requestId)
    answered = { body: withSystemCause(error).toBody(requestId), status: error.status, more: headersOf(error) }
  }
  // An aborted call has an answer too, for example with what was done until then.
  signal.throwIfAborted()
  const text = JSON.stringify(answered.body)
  return {
    status: answered.status,
    headers: { 'content-type': 'application/json', 'x-request-id': requestId, ...answered.more },
    text: async () => text,
    async *stream() {
      yield Buffer.from(text)
    },
  }
}
