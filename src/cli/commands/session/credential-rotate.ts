/** `bax credential rotate`: replaces secrets of a credential; they come from a prompt or from standard input. */
import { Argument } from 'commander'
import { uncheckedFields } from '../../../client/calls.ts'
import { readCredential } from '../../credential/read-secrets.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { note, print } from '../../io.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'

export const command: TerminalCommand = {
  cli: 'credential rotate <name>',
  summary: 'Replace secrets of a credential',
  example: ['bax credential rotate shop', 'bax credential rotate mail --totp --no-password'],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<name>', 'name of the credential'))
      command.option('--username <name>', 'new user name or email address')
      command.option('--totp', 'also ask for a new secret of one-time codes')
      command.option('--passkey', 'forget its passkeys, and allow pages to create new ones')
      command.option('--no-password', 'keep the password')
    })
    const { io, settings } = context
    const input = await readCredential(io, typed)
    return withEngine(context, { when: 'ask' }, async ({ ask }) => {
      const record = await ask('rotateCredential', uncheckedFields(input), { signal: io.signal })
      if (settings.json) print(io, JSON.stringify(record))
      else if (io.stderr.isTTY) note(io, `changed ${record.name}`)
    })
  },
}
