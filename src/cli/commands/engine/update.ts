/** `bax update`: reports newer versions, and how this installation is updated. It installs nothing. */
import { version } from '../../../core/version.ts'
import { note, print } from '../../io.ts'
import type { Release } from '../../installation/releases.ts'
import { parseInvocation, type TerminalCommand } from '../../parse/invocation.ts'

export const command: TerminalCommand = {
  cli: 'update',
  summary: 'Look for new versions, without installing them',
  example: ['bax update', 'bax update --json'],
  place: 'own process',
  async run(invocation) {
    const { context } = parseInvocation(invocation)
    const { io, settings } = context
    const [{ installationOf }, { releasesAfter }] = await Promise.all([
      import('../../installation/installation.ts'),
      import('../../installation/releases.ts'),
    ])
    const { kind, path, update } = installationOf(io)
    const releases = await releasesAfter(version, io)
    const newest = releases.at(-1)
    const commands = newest ? update(newest.version) : []
    if (settings.json) return print(io, JSON.stringify({ version, installation: { kind, path }, releases, commands }))
    if (!newest) return print(io, `bax ${version} is the newest version`)
    print(io, `newer than bax ${version}:\n${releases.map(lineOf).join('\n')}`)
    if (commands.length === 0) return note(io, `${path} was installed in an unknown way: update it as you installed it`)
    print(io, `update (${kind}, ${path}):\n${commands.map((line) => `  ${line}`).join('\n')}`)
  },
}

const lineOf = ({ version: newer, published }: Release): string =>
  `  ${newer}${published === undefined ? '' : `  ${published.slice(0, 10)}`}`
