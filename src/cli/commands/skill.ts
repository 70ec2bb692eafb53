/** `bax skill`: prints the skill for agents, or installs it with its references, which are pages of the guide. */
import { textFlag } from '../../lines/typed.ts'
import { join, resolve } from 'node:path'
import { BaxError } from '../../core/errors/errors.ts'
import { readGuide, readSkill } from '../guide/pages.ts'
import { print } from '../io.ts'
import { writeOutput } from '../output/write-output.ts'
import { parseInvocation, type TerminalCommand } from '../parse/invocation.ts'

/** Pages of the guide that agents need. */
const topics: ReadonlySet<string> = new Set([
  'commands',
  'selectors',
  'observe',
  'step',
  'sessions',
  'tabs',
  'dialogs',
  'files',
  'scraping',
  'crawling',
  'search',
  'extract',
  'scripts',
  'shell',
  'relay',
  'errors',
  'mcp',
  'approvals',
  'allowed-domains',
  'credentials',
])

export const command: TerminalCommand = {
  cli: 'skill',
  summary: 'Print or install the skill for agents',
  example: ['bax skill', 'bax skill --full', 'bax skill --install .claude/skills'],
  async run(invocation) {
    const { context, typed } = parseInvocation(invocation, (command) => {
      command.option('--full', 'print the references, too')
      command.option('--install <folder>', 'write the skill to a new folder "bax" in this one, such as .claude/skills')
    })
    const { io } = context
    const { full } = typed.flags
    const install = textFlag(typed.flags, 'install')
    if (full && install !== undefined)
      throw new BaxError('invalid_request', '--full cannot be used with --install', { hint: 'leave out --full' })
    if (install === '') throw new BaxError('invalid_request', '--install must be a folder')
    const references = readGuide(io).filter(({ topic }) => topics.has(topic))
    const skill = readSkill(io)
    if (install === undefined) {
      const pages = full ? references.map(({ text }) => `\n${text.trimEnd()}`) : []
      return print(io, [skill.trimEnd(), ...pages].join('\n'))
    }
    const folder = resolve(io.cwd, install, 'bax')
    writeOutput(join(folder, 'SKILL.md'), skill)
    for (const { topic, text } of references) writeOutput(join(folder, 'references', `${topic}.md`), withLinks(text))
    print(io, join(folder, 'SKILL.md'))
  },
}

/** Replaces links to pages that are not installed by their text. */
const withLinks = (text: string): string =>
  text.replaceAll(/\[([^\]]*)\]\(([\w-]+)\.md(?:#[\w-]+)?\)/g, (link, label: string, topic: string) =>
    topics.has(topic) ? link : label,
  )
