/** Commands that block, fulfil and modify requests of a session, and show them. */
import { z } from 'zod'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { defineCommand, extracted } from '../../core/operation/command.ts'
import { abortReasons, type ListedRoute, requestTypes, type RouteAction } from '../../core/operation/page-control.ts'
import { flag, identifier, integer, printable } from '../../core/shapes/fields.ts'
import { extraction } from '../fields.ts'
import { removableHeaders, requestHeaders, responseHeaders } from './header-fields.ts'

const url = printable(limits.input.labelChars)
  .min(1)
  .describe('Glob of URLs: * within a segment, ** any text, {a,b} alternatives; the query counts only if it matches')

const types = z
  .array(z.enum(requestTypes))
  .max(requestTypes.length)
  .default([])
  .describe('Types of requests; all when omitted')

const method = z
  .string()
  .regex(/^[A-Za-z]{1,20}$/, 'is not an HTTP method')
  .transform((text) => text.toUpperCase())
  .optional()
  .describe('HTTP method; any when omitted')

const routeFields = z.object({
  url,
  type: types,
  method,
  abort: flag('Fail the requests'),
  reason: z.enum(abortReasons).optional().describe('Error of aborted requests, failed when omitted'),
  status: integer(200, 599).optional().describe('Answer with this status instead of the server, 200 when omitted'),
  headers: responseHeaders.optional().describe('Answer with these response headers, as an object'),
  body: z.string().max(limits.network.routeBytes).optional().describe('Answer with this text').meta({ file: 'text' }),
  body_base64: z
    .base64()
    .max(limits.network.routeBytes * 2)
    .optional()
    .describe('Answer with these bytes, as base64')
    .meta({ file: 'base64' }),
  content_type: printable(limits.input.nameChars).optional().describe('Content type of the answer'),
  set_headers: requestHeaders.optional().describe('Send the requests with these headers, as an object'),
  remove_headers: removableHeaders.optional().describe('Send the requests without these headers'),
})

type RouteFields = z.output<typeof routeFields>

const routeIds = z.array(z.string())

export const add_route = defineCommand({
  kind: 'action',
  summary: 'Block, answer or modify matching requests of all tabs',
  also: ['route', 'network route'],
  example: [
    "'**/*.png' --abort",
    `'**/api/items' --body '[]' --content-type application/json`,
    "'**/api/**' --status 503",
  ],
  data: routeFields,
  result: z.object({ route_id: z.string().describe('ID for remove_route, such as route_1') }),
  prints: 'route_id',
  run: async ({ network }, fields) => {
    const { url, type, method } = fields
    return { data: { route_id: await network.addRoute({ url, types: type, method, action: actionOf(fields) }) } }
  },
})

export const remove_route = defineCommand({
  kind: 'action',
  summary: 'Remove a route, or all routes',
  also: ['unroute', 'network unroute'],
  positional: [['route'], []],
  example: ['', 'route_1'],
  data: z.object({
    route: printable(limits.input.labelChars)
      .min(1)
      .optional()
      .describe('ID of the route, or the URL that it was added with; all routes when omitted'),
  }),
  result: z.object({ removed: routeIds.describe('IDs of the removed routes') }),
  run: async ({ network }, { route }) => ({ data: { removed: await network.removeRoutes(route) } }),
})

export const list_routes = defineCommand({
  kind: 'extraction',
  summary: 'List the routes of the session',
  table: { columns: ['route_id', 'action', 'url', 'method', 'type'] },
  also: ['routes', 'network routes'],
  example: '',
  data: z.object({}),
  result: extraction(
    z.array(
      z.object({
        route_id: z.string(),
        url: z.string(),
        type: z.array(z.string()),
        method: z.string().optional(),
        action: z.enum(['abort', 'fulfil', 'modify']),
        reason: z.string().optional(),
        status: z.int().optional(),
        bytes: z.int().optional().describe('Size of the body'),
        set_headers: z.array(z.string()).optional().describe('Names of the headers'),
        remove_headers: z.array(z.string()).optional(),
        hits: z.int().describe('Number of requests that it has handled'),
      }),
    ),
    ['array'],
  ),
  run: async ({ network }) => extracted(network.listRoutes().map(shownRoute)),
})

const requestSummary = z.object({
  request_id: z.string().describe('ID for get_request; also in the events of the session'),
  tab_id: z.string().optional(),
  method: z.string(),
  url: z.string(),
  resource_type: z.string(),
  status: z.int().nullable().describe('null while there is no response'),
  content_type: z.string().optional(),
  error: z.string().optional().describe('Why the request failed'),
  pending: z.boolean(),
  started_at: z.iso.datetime(),
  duration_ms: z.int().nullable(),
})

export const list_requests = defineCommand({
  kind: 'extraction',
  summary: 'List recent requests of the session',
  table: { items: 'requests', columns: ['request_id', 'method', 'status', 'resource_type', 'duration_ms', 'url'] },
  also: ['requests', 'network requests'],
  positional: [['url'], []],
  example: ['', '--type xhr --status 4xx', "'**/api/**'"],
  data: z.object({
    url: url.optional(),
    type: types,
    method,
    status: z
      .string()
      .regex(/^(?:[1-5]xx|[1-5]\d\d|failed|pending)$/i, 'must be a status such as 404 or 4xx, failed or pending')
      .transform((text) => text.toLowerCase())
      .optional()
      .describe('Status such as 404 or 4xx; or failed, or pending'),
    limit: integer(1, limits.network.requests)
      .default(limits.network.listed)
      .describe(`Maximum number of requests, the newest ones; the last ${limits.network.requests} are kept`),
  }),
  result: extraction(
    z.object({ requests: z.array(requestSummary), total: z.int().describe('Number of requests that match') }),
    ['object'],
  ),
  run: async ({ network }, { type, ...filter }) => extracted(network.listRequests({ ...filter, types: type })),
})

const body = z
  .object({
    text: z.string().optional(),
    base64: z.string().optional().describe('Data that is no text'),
    content_type: z.string().optional(),
    bytes: z.int().describe('Size of the whole body'),
    truncated: z.boolean(),
  })
  .nullable()
const headers = z.record(z.string(), z.string())

export const get_request = defineCommand({
  kind: 'extraction',
  summary: 'Get the headers and bodies of a recent request',
  also: ['network request'],
  example: '12',
  data: z.object({
    request_id: identifier.describe('ID from list_requests or from the events of the session'),
    max_bytes: integer(0, limits.network.maxBodyBytes)
      .default(limits.network.bodyBytes)
      .describe('Maximum size of each body'),
  }),
  result: extraction(
    requestSummary.extend({
      status_text: z.string().optional(),
      from_service_worker: z.boolean().optional(),
      redirected_from: z.string().optional(),
      request_headers: headers,
      request_body: body,
      request_body_missing: z.string().optional().describe('Why there is no request body'),
      response_headers: headers.nullable(),
      response_body: body,
      body_missing: z.string().optional().describe('Why there is no response body'),
    }),
    ['object'],
  ),
  run: async ({ network }, { request_id, max_bytes }) => extracted(await network.request(request_id, max_bytes)),
})

/** @throws BaxError `invalid_data` unless the fields describe exactly one action. */
function actionOf(fields: RouteFields): RouteAction {
  const { abort, reason, status, headers, body, body_base64, content_type, set_headers, remove_headers } = fields
  const given = (...values: unknown[]) => values.some((value) => value !== undefined)
  const kinds = [
    abort || given(reason),
    given(status, headers, body, body_base64, content_type),
    given(set_headers, remove_headers),
  ]
  if (kinds.filter(Boolean).length !== 1) {
    throw new BaxError('invalid_data', 'a route needs exactly one of abort, an answer, and changes of headers', {
      hint: 'set abort; or status, headers and body; or set_headers and remove_headers',
    })
  }
  if (kinds[0]) return { kind: 'abort', reason: reason ?? 'failed' }
  if (kinds[2]) return { kind: 'modify', set: set_headers ?? {}, remove: remove_headers ?? [] }
  if (given(body) && given(body_base64)) {
    throw new BaxError('invalid_data', 'a route takes either body or body_base64, not both')
  }
  const bytes = body_base64 === undefined ? Buffer.from(body ?? '') : Buffer.from(body_base64, 'base64')
  const type = content_type ?? (given(body) ? 'text/plain; charset=utf-8' : undefined)
  const hasType = Object.keys(headers ?? {}).some((name) => name.toLowerCase() === 'content-type')
  const keepsType = type === undefined || (hasType && content_type === undefined)
  const all = { ...headers, ...(!keepsType && { 'content-type': type }) }
  return { kind: 'fulfil', status: status ?? 200, headers: all, body: bytes }
}

/** Bodies and header values may be long or secret, so lists show their size and names. */
function shownRoute({ id, url, types, method, action, hits }: ListedRoute) {
  const rest =
    action.kind === 'abort'
      ? { reason: action.reason }
      : action.kind === 'fulfil'
        ? { status: action.status, bytes: action.body.length }
        : { set_headers: Object.keys(action.set), remove_headers: action.remove }
  return { route_id: id, url, type: types, ...(method && { method }), action: action.kind, ...rest, hits }
}
