/** `bax help`: prints the list of topics, or a page of the guide. */
import { BaxError } from '../../core/errors/errors.ts'
import { didYouMean } from '../../core/errors/suggest.ts'
import { helpWidth } from '../../lines/help-layout.ts'
import { rootHelp } from '../output/help.ts'
import { plainStyle, styleFor } from '../output/style.ts'
import type { Io } from '../io.ts'
import { kebab } from '../../lines/values.ts'
import { wrap } from '../../core/text/wrap.ts'
import { styledWords } from './inline.ts'
import { type GuidePage, readGuide } from './pages.ts'
import { renderMarkdown } from './render.ts'
import { type CommandNames, findPage, hasHelp, isCommand, topicsOf } from './topics.ts'

/** Longest line on a wide terminal, in columns. */
const longestLine = 100

/** Prints what `bax help` shows for these words; returns false if they name a command. */
export async function printTopic(argv: readonly string[], io: Io, names: CommandNames): Promise<boolean> {
  const words = argv.filter((word) => word !== '--help' && word !== '-h')
  const pages = readGuide(io)
  const page = words.length === 0 ? undefined : findPage(words, pages)
  const lineWidth = helpWidth(io.stdout)
  if (words.length === 0) io.stdout.write(rootHelp(names.entries, lineWidth) + topicList(pages, lineWidth))
  else if (page) io.stdout.write((await pageText(page, pages, io)) + commandPointer(page.topic, names))
  else if (words[0]!.startsWith('-') || isCommand(words[0]!, names)) return false
  else throw unknownTopic(words.join(' '), pages, names)
  return true
}

/** Returns a page as it is, laid out only on a terminal. */
async function pageText({ text }: GuidePage, pages: readonly GuidePage[], io: Io): Promise<string> {
  if (!io.stdout.isTTY) return text
  const target = (url: string) => {
    const linked = pages.find(({ topic }) => url.replace(/#.*/, '') === `${topic}.md`)
    return linked ? `bax help ${linked.topic}` : /^https?:/.test(url) ? url : undefined
  }
  const width = Math.min(io.stdout.columns ?? longestLine, longestLine)
  return renderMarkdown(text, { style: await styleFor(io, io.stdout), width, target })
}

/** Returns the last line of a page with the name of a command, which names the help of the command. */
const commandPointer = (topic: string, names: CommandNames): string =>
  hasHelp(topic, names) ? `\nFlags: bax ${topic} --help\n` : ''

function topicList(pages: readonly GuidePage[], lineWidth: number): string {
  const topics = topicsOf(pages)
  const margin = Math.max(...topics.map(({ value }) => value.length)) + 4
  const layout = { style: plainStyle, width: lineWidth - margin, target: () => undefined }
  return [
    '',
    'Guide:',
    ...topics.flatMap(({ value, description }) =>
      wrap(styledWords(description, layout), layout.width).map(
        ({ shown }, line) => (line === 0 ? `  ${value}` : '').padEnd(margin) + shown,
      ),
    ),
    '',
    'Run "bax help <topic>" to read a page.',
    '',
  ].join('\n')
}

function unknownTopic(word: string, pages: readonly GuidePage[], names: CommandNames): BaxError {
  const topics = topicsOf(pages).map(({ value }) => value)
  const commands = names.entries.flatMap(({ words, hidden }) => (hidden ? [] : words.split(' ', 1)))
  const browserCommands = names.manifest.commands.map(({ name }) => kebab(name))
  const near = didYouMean(word, new Set([...topics, ...commands, ...browserCommands]))
  return new BaxError('invalid_request', `no command or topic "${word}"${near}`, {
    hint: 'run "bax help" for the commands and topics',
  })
}
