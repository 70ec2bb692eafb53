/** Single HTTP requests, outside of pages. */
import { limits } from '../core/limits/limits.ts'
import { defineOperation } from '../core/operation/operation.ts'
import { type OnAny, onAnySession } from '../core/operation/placement.ts'
import { requestAnswer, type RequestInput, requestInput } from '../core/shapes/read/request.ts'
import { samples } from './samples.ts'
import { identityErrors } from './scrape.ts'

/** Any method but these may have an effect, so that repeating the request could have it twice. */
const isSafe = ({ method, body, body_base64, body_json }: RequestInput): boolean =>
  /^(?:GET|HEAD|OPTIONS)$/.test(method ?? 'GET') && (body ?? body_base64 ?? body_json) === undefined

const onRender: OnAny<RequestInput> = { on: 'any', label: 'render', once: (input) => !isSafe(input) }

export const sendRequest = defineOperation({
  summary: 'Send an HTTP request with the cookies of a session',
  description:
    'Like curl, from outside of the pages. The cookies of the response are set in the session, or with `save_profile` in ' +
    'the profile. Egress rules, allowed domains and the proxy of the session apply to every redirect. A response with ' +
    'any status is a success.',
  http: 'POST /request',
  scope: 'browser',
  runs: { ...onAnySession, absent: onRender },
  cli: 'request <url>',
  usesDefaultSession: true,
  sample: { url: 'https://example.com/api/orders', ...samples.session, body_json: { quantity: 2 } },
  input: requestInput,
  output: requestAnswer,
  errors: [
    'session_closed',
    'unsupported',
    'timeout',
    'url_blocked',
    'dns_failed',
    'connection_failed',
    'proxy_failed',
    'tls_error',
    'too_many_redirects',
    'content_too_large',
    'unsupported_content_type',
    'controlled_by_person',
    'rejected',
    'confirmation_timeout',
    'too_many_pending',
    ...identityErrors,
  ],
  heavy: true,
  bodyBytes: limits.request.inputBytes,
  run: (engine, input, call) => engine.requests.send(input, call),
})
