/** `bax engine logs`: prints the last lines of the local engine's log. */
import { systemReason, systemCode } from '../../../core/errors/system-errors.ts'
import { readFile } from 'node:fs/promises'
import { BaxError } from '../../../core/errors/errors.ts'
import { localFiles } from '../../../core/state/local-files.ts'
import { param } from '../../serve/param.ts'
import { addParam } from '../../../lines/flags.ts'
import { readParams } from '../../../lines/typed.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { print } from '../../io.ts'

const params = { lines: param('lines', 'number of lines to print', { type: 'integer', default: 200 }) }

export const command: TerminalCommand = {
  cli: 'engine logs',
  summary: 'Print the log of the local engine',
  example: ['bax engine logs', 'bax engine logs --lines 50'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => addParam(command, params.lines))
    const { lines: count } = readParams(params, typed.flags, context.io.cwd)
    if (count < 1) throw new BaxError('invalid_request', `--lines must be at least 1, not ${count}`)
    const { log } = localFiles(context.settings.stateDir)
    const kept = [...(await linesOf(`${log}.1`)), ...(await linesOf(log))]
    if (kept.length === 0)
      throw new BaxError('engine_unreachable', `no log at ${log}`, {
        hint: 'run "bax session create" to start an engine with this state folder',
      })
    const last = kept.slice(-count)
    print(context.io, context.settings.json ? JSON.stringify({ path: log, lines: last }) : last.join('\n'))
  },
}

async function linesOf(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '')
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return []
    throw new BaxError('engine_failed', `cannot read ${path}: ${systemReason(error)}`, { cause: error })
  }
}
