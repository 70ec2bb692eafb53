/** The tool that asks a person to take over a page. */
import { z } from 'zod'
import { handoffFailure, handoffHead, handoffPage } from '../../core/access/handoff-text.ts'
import { handoffInput, type HandoffRecord } from '../../core/access/handoffs.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { limits } from '../../core/limits/limits.ts'
import { printable } from '../../core/shapes/fields.ts'
import { operations } from '../../operations/index.ts'
import { defineTool, type ToolAnswer, type ToolCall, type UrlAnswer } from '../tool.ts'
import { session } from './browser.ts'

export const browserHandoff = defineTool({
  name: 'browser_handoff',
  description: 'Ask a person for a captcha, login or consent: gives a URL for them; handoff_id waits.',
  uses: [operations.requestHandoff, operations.getHandoff, operations.withdrawHandoff],
  effect: 'destroy',
  asksByUrl: true,
  input: z.object({
    reason: handoffInput.reason.optional().describe(''),
    until: printable(limits.handoffs.untilChars).optional().describe('url:GLOB or text:…'),
    handoff_id: z.string().max(limits.input.nameChars).optional().describe(''),
    session,
  }),
  async run(call, { session: name, handoff_id, reason, until }) {
    const { connection, signal, urls } = call
    if (urls?.answer) return afterUrl(call, urls.answer)
    const session_id = await connection.session(name)
    if (handoff_id !== undefined) return waitFor(call, { session_id, handoff_id })
    if (reason === undefined) throw new BaxError('invalid_request', 'reason or handoff_id is required')
    const asked = await connection.ask('requestHandoff', { session_id, reason, ...(until && { until }) }, signal)
    if (urls && asked.control_url !== null)
      return { ask: { message: reason, url: asked.control_url, state: { session_id, handoff_id: asked.handoff_id } } }
    return { text: `give this URL to the user: ${asked.control_url}\n${again(asked)}` }
  },
})

const askedState = z.object({ session_id: z.string(), handoff_id: z.string() })

/** Waits for the end of a handoff whose URL the person has opened; withdraws it if they have not. */
async function afterUrl(call: ToolCall, { state, accepted }: UrlAnswer): Promise<ToolAnswer> {
  const asked = askedState.safeParse(state)
  if (!asked.success) throw new BaxError('invalid_request', 'requestState must be that of the earlier response')
  if (accepted) return waitFor(call, asked.data)
  await call.connection.ask('withdrawHandoff', asked.data, call.signal)
  throw new BaxError('rejected', 'the user has not opened the URL')
}

const again = ({ handoff_id }: HandoffRecord) => `then call browser_handoff with handoff_id ${handoff_id} to wait`

/** Waits for the end, but not longer than clients wait for a response; reports progress meanwhile. */
async function waitFor(
  { connection, signal, progress }: ToolCall,
  ids: { readonly session_id: string; readonly handoff_id: string },
): Promise<ToolAnswer> {
  const { answerMs, handoffPollSecs: pollSecs } = limits.mcp
  const waitSecs = answerMs / 1000
  for (let waited = 0; ; waited += pollSecs) {
    const handoff = await connection.ask('getHandoff', { ...ids, wait_secs: pollSecs }, signal)
    if (handoff.ended_at !== null) return answerOf(handoff)
    if (waited + pollSecs >= waitSecs) {
      const state = handoff.control_url === null ? 'the person has opened the URL' : 'nobody has opened the URL'
      return { text: `still waiting: ${state}\n${again(handoff)}` }
    }
    await progress(waited + pollSecs, waitSecs, 'waiting for a person')
  }
}

function answerOf(handoff: HandoffRecord): ToolAnswer {
  const failure = handoffFailure(handoff)
  if (failure) throw failure
  const page = handoffPage(handoff)
  return { text: handoffHead(handoff), ...(page && { page }) }
}
