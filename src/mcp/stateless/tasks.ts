/**
 * Crawls as tasks (`io.modelcontextprotocol/tasks`), for clients with the extension. The ID of a task is that of its
 * crawl, with what to list of its pages, so that any server or gateway answers for it.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { limits } from '../../core/limits/limits.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { withWrittenNames } from '../../core/operation/input/given-fields.ts'
import { validateInput } from '../../core/operation/input/valid-input.ts'
import type { Connection } from '../connection.ts'
import { parsed } from '../message.ts'
import { orProtocolError } from '../protocol-error.ts'
import { beginCrawl, webCrawl } from '../tools/crawl.ts'
import type { Tool } from '../tool.ts'

const extension = 'io.modelcontextprotocol/tasks'

/** Capability of the server. */
export const taskCapability = { extensions: { [extension]: {} } }

interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: { readonly extensions?: Readonly<Record<string, unknown>> }
}

/** Whether a call becomes a task: a new crawl of a client that knows them. */
export function becomesTask(
  tool: Tool,
  given: Readonly<Record<string, unknown>>,
  { envelope }: ServerContext['mcpReq'],
) {
  const { extensions } = (envelope as Envelope | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
  return (
    tool === webCrawl &&
    extensions?.[extension] !== undefined &&
    typeof given['url'] === 'string' &&
    (given['id'] ?? undefined) === undefined
  )
}

type CrawlArguments = Parameters<typeof beginCrawl>[1] & {
  readonly id?: string
  readonly find?: string
  readonly read?: number[]
}

/** Pages that a call lists, once the crawl has ended. */
const viewSchema = webCrawl.input.pick({ find: true, read: true })

/** Starts a crawl; returns its task. @throws BaxError for invalid arguments, and those of the engine */
export async function startTask(connection: Connection, given: Record<string, unknown>): Promise<CallToolResult> {
  const { input } = validateInput(webCrawl.input, given, true)
  const { id: _, find, read, url, ...options } = input as CrawlArguments
  connection.assertAllowed(url)
  const id = await withWrittenNames(input, () => beginCrawl(connection, { url, ...options }))
  const view = JSON.stringify({ find, read })
  const taskId = view === '{}' ? id : `${id}.${Buffer.from(view).toString('base64url')}`
  const { task } = await taskOf(connection, taskId)
  return { ...task, resultType: 'task', content: [] }
}

/** @throws BaxError `invalid_request` */
function readId(taskId: string) {
  const [id = '', encoded] = taskId.split('.')
  const view = viewSchema.safeParse(encoded === undefined ? {} : parsed(Buffer.from(encoded, 'base64url')))
  if (!view.success) throw new BaxError('invalid_request', `there is no task ${JSON.stringify(taskId)}`)
  return { id, view: view.data }
}

const statuses = { scraping: 'working', completed: 'completed', failed: 'completed', cancelled: 'cancelled' } as const

/** Returns a task, and the arguments with which the tool reads its result. @throws BaxError `crawl_not_found` */
async function taskOf(connection: Connection, taskId: string) {
  const { id, view } = readId(taskId)
  const state = await connection.ask('getCrawl', { id, limit: 0 })
  const { status, completed, total, created_at: createdAt, expires_at, duration_ms } = state
  const created = Date.parse(createdAt)
  const task = {
    taskId,
    status: statuses[status],
    statusMessage: `${completed} of ${total} pages`,
    createdAt,
    lastUpdatedAt: new Date(created + duration_ms).toISOString(),
    ttlMs: Date.parse(expires_at) - created,
    pollIntervalMs: limits.mcp.pollMs,
  }
  return { task, given: { id, ...view } }
}

type Call = (connection: Connection, given: Record<string, unknown>, signal: AbortSignal) => Promise<CallToolResult>

/** Answers requests about tasks. `call` calls the tool. */
export function serveTasks(server: Server, connection: Connection, call: Call): void {
  const params = z.object({ taskId: z.string() })
  const any = z.looseObject({})
  server.setRequestHandler('tasks/get', { params, result: any }, async ({ taskId }, { mcpReq: { signal, _meta } }) => {
    const own = connection.ofCall(_meta)
    const { task, given } = await orProtocolError(taskOf(own, taskId))
    return task.status === 'completed' ? { ...task, result: await call(own, given, signal) } : task
  })
  server.setRequestHandler('tasks/cancel', { params, result: any }, async ({ taskId }, { mcpReq: { _meta } }) => {
    await orProtocolError((async () => connection.ofCall(_meta).ask('cancelCrawl', { id: readId(taskId).id }))())
    return {}
  })
  // Crawls ask nothing, so that there is nothing to update.
  server.setRequestHandler('tasks/update', { params, result: any }, async ({ taskId }, { mcpReq: { _meta } }) => {
    await orProtocolError(taskOf(connection.ofCall(_meta), taskId))
    return {}
  })
}
