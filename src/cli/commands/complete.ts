/** `bax complete -- WORDS`: prints completion candidates for the scripts of `bax completion`. */
import { complete } from '../completion/candidates.ts'
import type { TerminalCommand } from '../parse/invocation.ts'
import { print } from '../io.ts'

export const command: TerminalCommand = {
  cli: 'complete',
  summary: 'Print completion candidates',
  hidden: true,
  async run({ argv, manifest, io }) {
    const { candidates, files } = await complete(argv[0] === '--' ? argv.slice(1) : argv, manifest, io)
    const lines = candidates.map(({ value, description }) => `${value}\t${description.replaceAll(/\s+/g, ' ')}`)
    print(io, [...lines, files ? ':files' : ':none'].join('\n'))
  },
}
