/** `bax credential add`: stores a credential; its secrets come from a prompt or from standard input. */
import { Argument } from 'commander'
import { textFlags } from '../../../lines/typed.ts'
import { collect } from '../../../lines/flags.ts'
import { uncheckedFields } from '../../../client/calls.ts'
import { readCredential } from '../../credential/read-secrets.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { note, print } from '../../io.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'

export const command: TerminalCommand = {
  cli: 'credential add <name>',
  summary: 'Store a credential for log-ins',
  example: [
    'bax credential add shop --origin https://shop.example --username ann',
    'pass show shop | bax credential add shop --origin https://shop.example',
    'bax credential add mail --origin https://mail.example --username ann --totp',
    'bax credential add bank --origin https://bank.example --passkey --no-password',
  ],
  place: 'own process',
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<name>', 'name of the credential'))
      command.option('--origin <url>', 'origin of pages that get the values; can be repeated', collect)
      command.option('--username <name>', 'user name or email address')
      command.option('--totp', 'also ask for the secret of one-time codes')
      command.option('--passkey', 'allow pages to create passkeys')
      command.option('--no-password', 'store no password')
    })
    const { io, settings } = context
    const input = { ...(await readCredential(io, typed)), origins: textFlags(typed.flags, 'origin') }
    return withEngine(context, { when: 'ask' }, async ({ ask }) => {
      const record = await ask('addCredential', uncheckedFields(input), { signal: io.signal })
      if (settings.json) print(io, JSON.stringify(record))
      else if (io.stderr.isTTY)
        note(io, `stored ${record.name} (${record.parts.join(', ')}) for ${record.origins.join(', ')}`)
    })
  },
}
