/** `bax code`: runs JavaScript whose functions are the commands and operations. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { uncheckedFields } from '../../../client/calls.ts'
import { BaxError } from '../../../core/errors/errors.ts'
import { systemReason } from '../../../core/errors/system-errors.ts'
import { listedWords } from '../../../lines/typed.ts'
import { addParam, addSessionFlag } from '../../../lines/flags.ts'
import { type Context, operationNamed } from '../../context.ts'
import { type LocatedEngine, withSession } from '../../engine/locate-engine.ts'
import { needOf } from '../../engine/need.ts'
import { type Io, print, readStdin } from '../../io.ts'
import { withControlNotice } from '../../output/control-notice.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { readOperation } from '../../run-operation.ts'

/** Fields with a word or a flag of their own. */
const without = new Set(['code', 'session_id'])

export const command: TerminalCommand = {
  cli: 'code <file>',
  summary: 'Run JavaScript that calls commands and operations',
  example: [
    'bax code prices.js',
    `echo 'return await bax.get_title()' | bax code - -s shop`,
    'bax code --types > bax.d.ts',
    `bax code pages.js --args '{"url": "https://example.com"}' --timeout-ms 300000`,
  ],
  async run(invocation) {
    const operation = operationNamed(invocation.manifest, 'runCode')
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.argument('[file...]', 'file with the code; - for standard input. With --types: functions to describe')
      command.option('--types', 'print TypeScript declarations of all functions, or of those that are named')
      addSessionFlag(command)
      for (const param of operation.params) if (!without.has(param.name)) addParam(command, param)
    })
    const { io, settings } = context
    const words = listedWords(typed.words, 0)
    if (typed.flags['types'] === true) {
      const { makeCodeTypes } = await import('../../../library/declarations/code-types.ts')
      return void io.stdout.write(makeCodeTypes(words))
    }
    const [file, ...others] = words
    if (file === undefined || others.length > 0)
      throw new BaxError('invalid_request', file === undefined ? 'no file was given' : 'only one file can be run', {
        hint: 'run "bax code file.js", or "bax code -" for standard input',
      })
    const { input, source } = readOperation(context, operation, { words: [], flags: typed.flags })
    const code = await readCode(io, file)
    const need = source ? needOf(operation, input) : ({ when: 'ask', sameEngine: true } as const)
    return withSession(context, need, source, async (engine) => {
      const session_id = (input['session_id'] as string | undefined) ?? (await openDefault(context, engine))
      const fields = uncheckedFields({ ...input, code, session_id })
      const asked = engine.ask('runCode', fields, { signal: io.signal, strict: true })
      const answer = await withControlNotice(io, engine, session_id, asked)
      if (settings.json) print(io, JSON.stringify(answer))
      else {
        io.stdout.write(answer.output)
        if (answer.result !== null) print(io, textOf(answer.result))
      }
      if (answer.success) return 0
      const error = BaxError.fromBody(answer)
      if (!settings.json) throw error
      return error.exit
    })
  },
}

const textOf = (result: unknown): string => (typeof result === 'string' ? result : JSON.stringify(result))

/** @throws BaxError `invalid_request` */
async function readCode(io: Io, file: string): Promise<string> {
  if (file === '-') return readStdin(io)
  try {
    return readFileSync(resolve(io.cwd, file), 'utf8')
  } catch (error) {
    throw new BaxError('invalid_request', `cannot read ${file}: ${systemReason(error)}`, { cause: error })
  }
}

/** Returns the name of the default session if it is open; otherwise the code opens one of its own. */
async function openDefault({ io, settings }: Context, { ask }: LocatedEngine): Promise<string | undefined> {
  if (settings.embedded) return undefined
  try {
    const { status } = await ask('getSession', { session_id: 'default' }, { signal: io.signal })
    return status === 'ready' || status === 'provisioning' ? 'default' : undefined
  } catch (error) {
    // A key without the scope of sessions has none.
    if (error instanceof BaxError && /^(?:session_(?:not_found|closed)|forbidden_scope)$/.test(error.code))
      return undefined
    throw error
  }
}
