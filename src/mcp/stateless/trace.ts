/** Trace context of OpenTelemetry in the metadata of calls, which their calls of the engine pass on. */
import type { Transport } from '../../client/transport.ts'

type Metadata = Readonly<Record<string, unknown>> | undefined

/** `version-trace-parent-flags`, in hexadecimal digits. */
const parent = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/** Fits into a header. */
const printable = /^[\x20-\x7E]{1,8192}$/

/** Returns a transport whose requests have the trace context of a call, if there is a valid one. */
export function traced(transport: Transport, meta: Metadata): Transport {
  const { traceparent } = meta ?? {}
  if (typeof traceparent !== 'string' || !parent.test(traceparent)) return transport
  const context: Record<string, string> = { traceparent }
  for (const name of ['tracestate', 'baggage']) {
    const value = meta![name]
    if (typeof value === 'string' && printable.test(value)) context[name] = value
  }
  return {
    send: (request) => transport.send({ ...request, headers: { ...request.headers, ...context } }),
    close: () => transport.close(),
  }
}
