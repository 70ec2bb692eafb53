/** Tools of the page (WebMCP), for clients that call them without a batch; the commands declare everything else. */
import { z } from 'zod'
import { call_page_tool, list_page_tools } from '../../commands/control/webmcp.ts'
import { BaxError } from '../../core/errors/errors.ts'
import { defineOperation } from '../../core/operation/operation.ts'
import type { Call } from '../../core/operation/call.ts'
import type { Engine } from '../../core/engine.ts'
import { onAnySession } from '../../core/operation/placement.ts'
import { type CommandResult, commandResult } from '../../core/shapes/commands.ts'
import { pageTool } from '../../core/operation/page-tools.ts'
import { samples } from '../samples.ts'
import { pageFailures, sessionId } from './sessions.ts'

const errors = ['session_closed', 'cancelled', 'unsupported', ...pageFailures] as const

/** Runs one command; its failure is its result, as in a batch. */
async function runOne(
  engine: Engine,
  { session_id, ...command }: { readonly session_id: string; readonly command: string; readonly data: object },
  call: Call,
): Promise<CommandResult> {
  const commands = [{ ...command, data: { ...command.data } }]
  const { results } = await engine.sessions.runCommands({ session_id, commands }, call)
  return results[0]!
}

export const listWebmcpTools = defineOperation({
  summary: 'List the tools that the page of a session offers',
  description: 'Names, descriptions and schemas are texts of the page.',
  http: 'GET /sessions/{session_id}/webmcp',
  scope: 'browser',
  runs: onAnySession,
  sample: samples.session,
  input: list_page_tools.data.extend({ session_id: sessionId }),
  output: z.object({ tools: z.array(pageTool), total: z.int() }),
  errors,
  run: async (engine, { session_id }, call) => {
    const result = await runOne(engine, { session_id, command: 'list_page_tools', data: {} }, call)
    if (!result.success) throw BaxError.fromBody(result)
    const { value: tools } = result.data!['result'] as { value: z.output<typeof pageTool>[] }
    return { tools, total: tools.length }
  },
})

export const callWebmcpTool = defineOperation({
  summary: 'Call a tool that the page of a session offers',
  description: 'Returns the result of the command `call_page_tool`, also when it has failed.',
  http: 'POST /sessions/{session_id}/webmcp',
  scope: 'browser',
  runs: onAnySession,
  sample: { ...samples.session, name: 'search', arguments: { words: 'green tea' } },
  input: call_page_tool.data.extend({ session_id: sessionId }),
  output: commandResult,
  errors,
  run: (engine, { session_id, ...data }, call) => runOne(engine, { session_id, command: 'call_page_tool', data }, call),
})
