/** `bax key bot`: shows the key that signs requests, or creates it. */
import { BaxError } from '../../../core/errors/errors.ts'
import { addParam } from '../../../lines/flags.ts'
import { readParams } from '../../../lines/typed.ts'
import { print } from '../../io.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { param } from '../../serve/param.ts'

const params = {
  agent: param('agent', 'create the key, for the server at this https URL, which publishes its public half'),
}

export const command: TerminalCommand = {
  cli: 'key bot',
  summary: 'Show or create the key that signs requests',
  example: ['bax key bot --agent https://bot.example', 'bax key bot'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      for (const one of Object.values(params)) addParam(command, one)
    })
    const { io, settings } = context
    const { agent } = readParams(params, typed.flags, io.cwd)
    if (settings.server !== undefined)
      throw new BaxError('unsupported', 'the key is a file of the machine that sends the requests', {
        hint: 'run this command there, without --server and BAX_SERVER',
      })
    const { botKeyPath, createBotKey, readBotKey } = await import('../../../engine/store/bot-key.ts')
    const key = agent === undefined ? await readBotKey(settings) : await createBotKey(settings, agent)
    if (!key)
      throw new BaxError('key_not_found', `there is no key in ${botKeyPath(settings)}`, {
        hint: 'create one with "bax key bot --agent https://…"',
      })
    const record = { key_id: key.keyId, agent: key.agent, directory: key.directoryUrl, file: botKeyPath(settings) }
    if (settings.json) return print(io, JSON.stringify(record))
    for (const [name, value] of Object.entries(record)) print(io, `${name}: ${value}`)
  },
}
