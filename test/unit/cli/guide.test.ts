/** The guide: its pages, and how `bax help` finds and shows them. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { plainStyle } from '../../../src/cli/output/style.ts'
import { renderMarkdown } from '../../../src/cli/guide/render.ts'
import { commandTable, findCommand } from '../../../src/cli/parse/command-table.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import { sessionEventTypes } from '../../../src/core/events/events.ts'
import { bax } from '../../support/cli.ts'
import { readDocuments } from '../../support/readme.ts'

const manifest = await makeCliManifest()
const names = { manifest, entries: commandTable(manifest) }
const documents = await readDocuments()
const pages = [...documents].filter(([section]) => !section.startsWith('README'))
const commandsOf = (text: string) => {
  const line = text.split(/\n{2,}/)[2]!
  return line.startsWith('Commands: ') ? [...line.matchAll(/`bax ([^`]+)`/g)].map(([, words]) => words!) : []
}

describe('every page', () => {
  test.each(pages)('%s begins with a title and a sentence', (_, text) => {
    const [title, summary] = text.split(/\n{2,}/)
    expect(title).toMatch(/^# \S.*$/)
    expect(summary).toMatch(/^[A-Z][^|`#]*\.$/)
  })

  test.each(pages)('%s names commands that exist', (_, text) => {
    for (const words of commandsOf(text)) {
      const { entry, group } = findCommand(names.entries, manifest, words.split(' '))
      expect(entry ?? group, words).toBeDefined()
    }
  })

  test('is the only one for its commands', () => {
    const all = pages.flatMap(([, text]) => commandsOf(text))
    expect(all.filter((words, at) => all.indexOf(words) !== at)).toEqual([])
  })
})

test('every command belongs to a page', () => {
  const named = new Set(pages.flatMap(([, text]) => commandsOf(text)))
  const shown = names.entries.filter(({ hidden }) => !hidden).map(({ words }) => words)
  const missing = shown.filter((words) => !named.has(words) && !named.has(words.split(' ', 1)[0]!))
  expect(missing, 'name these in the line "Commands:" of a page in src/guide').toEqual([])
})

test('the page about events names every type', () => {
  const named = new Set(documents.get('events')!.match(/(?<=`)[a-z_.]+(?=`)/g))
  expect(sessionEventTypes.filter((type) => !named.has(type))).toEqual([])
})

/** Returns the anchors of the headings, as GitHub makes them. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

test.each([...documents])('the links of %s lead to files and headings', (section, text) => {
  const folder = section.startsWith('README') ? '../../../' : '../../../src/guide/'
  for (const [, url] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
    if (/^https?:/.test(url!)) continue
    const [path, anchor] = url!.split('#')
    const target = path ? readFileSync(new URL(folder + path, import.meta.url), 'utf8') : text
    if (anchor) expect(anchorsOf(target), url).toContain(anchor)
  }
})

describe('bax help', () => {
  test('lists every topic by the name to type, below the commands', async () => {
    const { stdout, code } = await bax(['help'])
    expect(code).toBe(0)
    expect(stdout).toContain((await bax(['--help'])).stdout)
    for (const [name] of pages) expect(stdout).toMatch(new RegExp(`^  ${name}  +[A-Z]`, 'm'))
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('prints a page unchanged where there is no terminal', async () => {
    expect(await bax(['help', 'sessions'])).toEqual(
      expect.objectContaining({ code: 0, stdout: documents.get('sessions')! }),
    )
    expect((await bax(['help', 'live', 'view'])).stdout).toBe(documents.get('live-view'))
  })

  test('prints a page with bold headings on a terminal', async () => {
    const { stdout } = await bax(['help', 'sessions'], { tty: true, columns: 60 })
    expect(stdout).toMatch(/^\u001B\[1mSessions\u001B\[22m\n/)
    expect(stdout).not.toContain('```')
    expect((await bax(['help', 'sessions'], { tty: true, env: { NO_COLOR: '1' } })).stdout).toMatch(/^Sessions\n/)
  })

  test.each(pages)('opens the page %s, also when a command has this name', async (topic, text) => {
    const { code, stdout } = await bax(['help', topic])
    expect(code).toBe(0)
    expect(stdout.replace(/\nFlags: bax \S+ --help\n$/, '')).toBe(text)
    expect((await bax(['help', `guide/${topic}`])).stdout).toBe(stdout)
  })

  test('points from the page of a command to its help, and back', async () => {
    for (const topic of ['observe', 'tui', 'shell', 'tabs'])
      expect((await bax(['help', topic])).stdout).toMatch(new RegExp(`\nFlags: bax ${topic} --help\n$`))
    // Only the beginning of commands such as `network requests`.
    for (const topic of ['network', 'clipboard']) expect((await bax(['help', topic])).stdout).not.toContain('\nFlags: ')
    expect((await bax(['observe', '--help'])).stdout).toMatch(/^Usage: bax observe[\s\S]*\nGuide: bax help observe\n$/)
    expect((await bax(['help', 'snapshot'])).stdout).toBe((await bax(['observe', '--help'])).stdout)
    expect((await bax(['help', 'network', 'requests'])).stdout).toMatch(/^Usage: bax list-requests/)
  })

  test.each([
    ['scrape --help', 'scraping'],
    ['map --help', 'crawling'],
    ['session create --help', 'sessions'],
    ['session watch --help', 'events'],
    ['session', 'sessions'],
    ['help session list', 'sessions'],
    ['click --help', 'commands'],
    ['step click --help', 'commands'],
    ['step --help', 'step'],
  ])('bax %s ends with a pointer to %s', async (line, topic) => {
    expect((await bax(line.split(' '))).stdout).toMatch(new RegExp(`\n\nGuide: bax help ${topic}\n$`))
  })

  test.each([
    ['nonsense', 'no command or topic "nonsense"\n'],
    ['scrapin', 'no command or topic "scrapin" (did you mean "scraping"?)\n'],
    ['gett-title', 'no command or topic "gett-title" (did you mean "get-title"?)\n'],
    ['obsrve', 'no command or topic "obsrve" (did you mean "observe"?)\n'],
    ['session lst', 'unknown command "session lst" (did you mean "list"?)\n'],
  ])('fails for %s', async (line, message) => {
    const { code, stdout, stderr } = await bax(['help', ...line.split(' ')])
    expect([code, stdout, stderr.slice(0, `error: ${message}`.length)]).toEqual([2, '', `error: ${message}`])
  })
})

describe('a page on a terminal', () => {
  const mark = (name: string) => (text: string) => `<${name}>${text}</${name}>`
  const style = { ...plainStyle, bold: mark('b'), cyan: mark('c') }
  const target = (url: string) => (url.endsWith('.md') ? `see ${url}` : undefined)
  const show = (text: string, width = 30) => renderMarkdown(text, { style, width, target })

  test('has bold headings and no markers of code', () => {
    expect(show('# Title\n\nText\n\n```sh\nbax open\n\n  indented\n```\n\nMore')).toBe(
      '<b>Title</b>\n\nText\n\n    bax open\n\n      indented\n\nMore\n',
    )
  })

  test('has paragraphs and list items as wide as the terminal', () => {
    expect(show('one two three four five\nsix seven', 12)).toBe('one two\nthree four\nfive six\nseven\n')
    expect(show('- one two three\n  four\n- five\n\n1. six seven eight', 12)).toBe(
      '- one two\n  three four\n- five\n\n1. six seven\n   eight\n',
    )
  })

  test('marks code and bold text, and keeps what is attached to it', () => {
    expect(show('(`a b`), **c `d`**: e')).toBe('(<c>a</c> <c>b</c>), <b>c</b> <b><c>d</c></b>: e\n')
    expect(show("`'/docs/**'` and **b**")).toBe("<c>'/docs/**'</c> and <b>b</b>\n")
  })

  test('shows where links lead', () => {
    expect(show('[a page](x.md), [a heading](#y)')).toBe('a page (see x.md), a heading\n')
  })

  test('has tables with aligned columns, whose cells take several lines', () => {
    const table = '| name | |\n| --- | --- |\n| `a\\|b` | one two three |\n| c | |'
    expect(show(table)).toBe('<b>name</b>\n<c>a|b</c>   one two three\nc\n')
    expect(show(table, 14)).toBe('<b>name</b>\n<c>a|b</c>   one two\n      three\nc\n')
  })

  test('leaves out comments', () => {
    expect(show('a\n\n<!-- x:start -->\nb\n<!-- x:end -->\n')).toBe('a\n\nb\n')
  })
})

test('the figures of the README are those of the guide', () => {
  const text = documents
    .get('README: Figures')!
    .split('\n\n')
    .find((part) => part.startsWith('|'))!
  const figures = text.match(/(?<![\d.\w])\d+(?: \d{3})*(?:\.\d+)?/g)!
  expect(figures.length).toBeGreaterThan(12)
  for (const figure of figures)
    expect(documents.get('benchmarks')).toMatch(new RegExp(`(?<![\\d.])${figure}(?![\\d]|\\.\\d)`))
})
