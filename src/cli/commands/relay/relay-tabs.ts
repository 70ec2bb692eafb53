/** `bax relay tabs`: lists the tabs of a relay browser. */
import { Argument } from 'commander'
import { operationNamed } from '../../context.ts'
import { withEngine } from '../../engine/locate-engine.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'
import { showAnswer } from '../../output/output.ts'

export const command: TerminalCommand = {
  cli: 'relay tabs <id>',
  summary: 'List the tabs of a relay browser',
  example: ['bax relay tabs laptop', 'bax relay tabs laptop --json'],
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.addArgument(new Argument('<id>', 'ID or name of a relay session'))
    })
    const { io, settings, manifest } = context
    const operation = operationNamed(manifest, 'getRelay')
    return withEngine(context, { when: 'ask' }, async ({ ask }) => {
      const record = await ask('getRelay', { id: String(typed.words[0]) }, { signal: io.signal })
      const columns = ['target_id', 'active', 'responsive', 'title', 'url']
      const show = { as: 'table', items: 'targets', columns } as const
      await showAnswer(io, { ...operation, show }, record, settings.json)
    })
  },
}
