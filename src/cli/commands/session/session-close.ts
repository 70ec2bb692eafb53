/** `bax session close`: closes a session, or all own ones. */
import { BaxError } from '../../../core/errors/errors.ts'
import { operationNamed } from '../../context.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { addOperation, callOperation } from '../../run-operation.ts'

export const command: TerminalCommand = {
  cli: 'session close [session-id]',
  summary: 'Close a browser session',
  place: 'engine',
  async run(invocation) {
    const closeOne = operationNamed(invocation.manifest, 'closeSession')
    const { context, typed } = parseInvocation(invocation, (command) => {
      addOperation(command, closeOne)
      command.option('--all', 'close all your sessions, also those that wait for a browser, and print them')
    })
    if (typed.flags['all'] !== true) return callOperation(context, closeOne, typed)
    if (typed.words[0] !== undefined || typed.flags['session'] !== undefined)
      throw new BaxError('invalid_request', '--all and a session exclude each other', { hint: 'give one of them' })
    return callOperation(context, operationNamed(context.manifest, 'closeSessions'), typed)
  },
}
