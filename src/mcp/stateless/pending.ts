/**
 * Calls that wait for a person, for clients that can ask theirs: such a call is answered with the question, and goes on.
 * The client repeats it with the answer, at any server or gateway, and gets the result of the first one.
 */
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { ApprovalRecord } from '../../core/access/approvals.ts'
import { asBaxError, BaxError } from '../../core/errors/errors.ts'
import { operations } from '../../operations/index.ts'
import { waitingApprovals } from '../approvals.ts'
import { callField, type Connection } from '../connection.ts'
import { parsed } from '../message.ts'
import type { Tool } from '../tool.ts'
import type { OnceCall } from './once.ts'
import { usesUrls } from './urls.ts'

const question = 'approval'

/** State of a call that a client repeats. The engine checks it against the key of the caller, like all that it asks. */
const stateSchema = z.object({ call: z.uuid(), session_id: z.string(), approval_id: z.string() })

type State = z.output<typeof stateSchema>
type Asked = Pick<ServerContext['mcpReq'], 'envelope' | 'inputResponses' | 'requestState' | 'signal'>

/** Metadata that the SDK has validated, but does not declare. */
interface Envelope {
  readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities
}

interface PendingCall {
  readonly connection: Connection
  readonly tool: Tool
  readonly given: Record<string, unknown>
  readonly mcpReq: Asked
}

/** Returns whether a call may be answered with a question, or is repeated with the answer. */
export function mayAsk({ connection, tool, mcpReq }: PendingCall): boolean {
  if (usesUrls(tool, mcpReq)) return false
  return mcpReq.requestState() !== undefined || (tool.effect === 'destroy' && canAsk(connection, mcpReq))
}

function canAsk({ options, mayCall }: Connection, { envelope }: Asked): boolean {
  const { elicitation } = (envelope as Envelope | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ?? {}
  const hasForms = elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
  return hasForms && options.confirm !== undefined && [operations.approveAction, operations.rejectAction].every(mayCall)
}

/**
 * Runs a call; returns the question of the first action that waits in its sessions, if there is one.
 * @throws BaxError for a repeated call whose first one is lost
 */
export async function orQuestion(
  { connection, tool, given, mcpReq }: PendingCall,
  run: (signal: AbortSignal) => Promise<CallToolResult>,
): Promise<CallToolResult | InputRequiredResult> {
  const earlier = stateOf(mcpReq.requestState<string>())
  const key = earlier?.call ?? connection.callId
  const running = new AbortController()
  const cancel = () => running.abort(mcpReq.signal.reason)
  mcpReq.signal.addEventListener('abort', cancel)
  const call = { key, input: { tool: tool.name, given }, signal: running.signal }
  const { found, result } = earlier ? findCall(connection, call, tool) : { found: null, result: run(running.signal) }
  const done = new AbortController()
  const settled = result.finally(() => done.abort())
  try {
    if (earlier) {
      // The action of a call that is lost must not be executed.
      await Promise.race([found, settled])
      await decide(connection, earlier, mcpReq)
    }
    if (!canAsk(connection, mcpReq)) return await settled
    // The result of the call reports any problem that matters.
    const asking = { connection, tool, key, session: earlier?.session_id }
    const asked = firstApproval(asking, done.signal).catch(() => settled)
    const first = await Promise.race([settled, asked])
    if ('content' in first) return first
    if (!earlier) await keepCall(connection, call, result)
    return questionOf(first, key)
  } catch (error) {
    // Nobody can answer the question of a new call that fails here.
    if (!earlier) running.abort(error)
    throw error
  } finally {
    done.abort()
    // From here on, the call does not end with this request.
    mcpReq.signal.removeEventListener('abort', cancel)
    settled.catch(() => {})
  }
}

/** Finds the call that a client repeats. `found` resolves when it is there; otherwise the result is an error. */
function findCall({ once }: Connection, call: OnceCall, tool: Tool) {
  let onFound = () => {}
  const found = new Promise<void>((resolve) => (onFound = resolve))
  const result = once<CallToolResult>({ ...call, onFound }, () => Promise.reject(lost(tool)))
  return { found, result }
}

/** Keeps a call that runs for the client to repeat. Resolves when other gateways find it, too. */
function keepCall({ once }: Connection, call: OnceCall, result: Promise<CallToolResult>): Promise<void> {
  return new Promise((resolve, reject) => {
    const work = () => {
      resolve()
      return result
    }
    once(call, work).catch(reject)
  })
}

function stateOf(text: string | undefined): State | undefined {
  if (text === undefined) return undefined
  const state = stateSchema.safeParse(parsed(Buffer.from(text)))
  if (!state.success) throw new BaxError('invalid_request', 'requestState must be that of the earlier response')
  return state.data
}

const lost = ({ name }: Tool) =>
  new BaxError('cancelled', `the call of ${name} that waited was lost`, { hint: 'look at the page before a new call' })

interface AskedCall extends Pick<PendingCall, 'connection' | 'tool'> {
  readonly key: string
  /** Session of its last question. */
  readonly session: string | undefined
}

/** Waits for an action of the call, or one that a page starts by itself; other calls have questions of their own. */
async function firstApproval(
  { connection, tool, key, session }: AskedCall,
  signal: AbortSignal,
): Promise<ApprovalRecord> {
  // Scripts run in a session of their own.
  const cause = tool.local ? undefined : key
  for await (const approvals of waitingApprovals(connection, signal, session)) {
    const own = approvals.find(({ command, context }) => command === null || context?.[callField] === cause)
    if (own) return own
  }
  throw signal.reason
}

function questionOf({ kind, command, url, summary, session_id, approval_id }: ApprovalRecord, call: string) {
  const cause = command === null ? '' : ` by ${command}`
  const state: State = { call, session_id, approval_id }
  return inputRequired({
    inputRequests: {
      [question]: inputRequired.elicit({
        message: `Allow ${kind}${cause} on ${url}?\n${summary}`,
        requestedSchema: {
          type: 'object',
          properties: { decision: { type: 'string', title: 'Decision', enum: ['approve', 'reject'] } },
          required: ['decision'],
        },
      }),
    },
    requestState: JSON.stringify(state),
  })
}

/** Approves or rejects as the client's person has answered. Anything but a clear yes rejects. */
async function decide(connection: Connection, { session_id, approval_id }: State, { inputResponses }: Asked) {
  const answer = inputResponse(inputResponses, question)
  if (answer.kind !== 'elicit') return
  const isApproved = answer.action === 'accept' && answer.content?.['decision'] === 'approve'
  try {
    await connection.ask(isApproved ? 'approveAction' : 'rejectAction', { session_id, approval_id })
  } catch (thrown) {
    // Somebody else has decided, or its time is up: the call reports what happened.
    if (!gone.has(asBaxError(thrown).code)) throw thrown
  }
}

const gone: ReadonlySet<string> = new Set(['approval_not_found', 'session_not_found', 'session_closed'])
