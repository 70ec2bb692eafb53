/** Calls that may be answered with a question, on a connection whose engine has the given approvals. */
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server'
import { expect, test, vi } from 'vitest'
import { BaxError } from '../../../src/core/errors/errors.ts'
import type { Connection } from '../../../src/mcp/connection.ts'
import type { RunOnce } from '../../../src/mcp/stateless/once.ts'
import { orQuestion } from '../../../src/mcp/stateless/pending.ts'
import type { Tool } from '../../../src/mcp/tool.ts'

const done = { content: [{ type: 'text' as const, text: 'done' }] }
const callId = '2f1b3f0e-6a3c-4f57-9d0c-5a1f0c5f7a10'
const approval = {
  approval_id: 'apr_own',
  kind: 'eval',
  command: 'evaluate',
  summary: '6 * 7',
  url: 'http://x/',
  session_id: 'ses_1',
  context: { mcp_call: callId },
}

/** Starts a call. */
function begin(approvals: object[], once: RunOnce, run: (signal: AbortSignal) => Promise<typeof done>) {
  const connection = {
    callId,
    once,
    options: { confirm: ['eval'] },
    mayCall: () => true,
    sessions: { list: async () => [{ name: 'ses_1', id: 'ses_1' }] },
    scriptSessions: new Set(),
    ask: async () => ({ approvals }),
  }
  const mcpReq = {
    envelope: { [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} } } },
    requestState: () => undefined,
    signal: new AbortController().signal,
  }
  const call = { connection, tool: { name: 'browser_act', effect: 'destroy' } as Tool, given: {}, mcpReq }
  return orQuestion(call as unknown as { connection: Connection } & Parameters<typeof orQuestion>[0], run)
}

const never = () => new Promise<typeof done>(() => {})

test('a call that asks nothing is not kept', async () => {
  const once = vi.fn()
  expect(await begin([], once as RunOnce, async () => done)).toBe(done)
  expect(once).not.toHaveBeenCalled()
})

test('a call is kept when it asks, under its own ID, about its own action', async () => {
  const once = vi.fn((_call: object, work: () => Promise<unknown>) => work())
  const others = [
    { ...approval, approval_id: 'apr_1', context: { mcp_call: 'another' } },
    { ...approval, approval_id: 'apr_2', context: undefined },
    { ...approval, approval_id: 'apr_3', session_id: 'ses_2' },
  ]
  const asked = (await begin([...others, approval], once as RunOnce, never)) as { requestState: string }
  expect(JSON.parse(asked.requestState)).toEqual({ call: callId, session_id: 'ses_1', approval_id: 'apr_own' })
  expect(once.mock.calls.map(([call]) => call)).toMatchObject([{ key: callId }])
})

test('a call that cannot be kept is cancelled, and asks nothing', async () => {
  const once: RunOnce = () => Promise.reject(new BaxError('fleet_unavailable', 'Redis does not answer'))
  const running = vi.fn((signal: AbortSignal) => {
    expect(signal.aborted).toBe(false)
    return never()
  })
  await expect(begin([approval], once, running)).rejects.toThrow('Redis does not answer')
  expect(running.mock.calls[0]![0].aborted).toBe(true)
})
