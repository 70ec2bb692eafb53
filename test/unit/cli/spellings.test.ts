import { describe, expect, test } from 'vitest'
import { parseBatch } from '../../../src/lines/parse-batch.ts'
import { commandTable, findCommand } from '../../../src/cli/parse/command-table.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import { commandsNamed } from '../../../src/lines/named-commands.ts'
import { operationNamed } from '../../../src/cli/context.ts'
import { synonyms } from '../../../src/lines/suggestion.ts'
import { flagValue } from '../../../src/lines/values.ts'

const manifest = await makeCliManifest()
const entries = commandTable(manifest)
const found = (line: string) => findCommand(entries, manifest, line.split(' '))

describe('browser commands without `do`', () => {
  test.each([
    ["click '#buy'", 'click'],
    ['-s shop get-title', 'get_title'],
    ['goto http://localhost', 'navigate_to'],
    ["type '#q' tea then click '#go'", 'type_text'],
    ['press #q Enter', 'press_key'],
    ['eval document.title', 'evaluate'],
    ['select #size Large', 'select_option'],
    ['reload', 'refresh'],
    ['back', 'go_back'],
    ['click #a', 'click'],
    ['click #a --button right', 'click_advanced'],
    ['click #a --new-tab', 'click_advanced'],
    ['click #a --count 2', 'click_advanced'],
    ['drag 10,20 30,40', 'drag'],
    ['drag #a #b', 'drag_to'],
    ['console', 'get_console'],
    ['find Basket', 'find_text'],
  ])('bax %s', (line, command) => {
    const { entry, argv } = found(line)
    expect(entry?.words).toBe('do')
    expect(parseBatch(argv, manifest, '/').commands?.[0]?.command).toBe(command)
  })
})

test.each([
  ['press Enter', { key: 'Enter' }],
  ['press #q Enter', { selector: '#q', key: 'Enter' }],
  ['wait 500', { milliseconds: 500 }],
  ['wait #spinner --state hidden', { selector: '#spinner', state: 'hidden' }],
  ['wait --url **/done', { url: '**/done' }],
  ['scroll down 400', { direction: 'down', amount: 400 }],
  ['scroll left', { direction: 'left' }],
  ['mousewheel 0 400', { delta_x: 0, delta_y: 400 }],
  ['drag #a #b', { selector: '#a', target_selector: '#b' }],
  ['drag #a 10,20', { selector: '#a', target_position: { x: 10, y: 20 } }],
  ['is visible #buy', { selector: '#buy', state: 'visible' }],
  ['get styles #buy color font-size', { selector: '#buy', properties: ['color', 'font-size'] }],
  ['get count li', { selector: 'li' }],
  ['get url', {}],
  ['get attr a href', { selector: 'a', attribute: 'href' }],
  ['verify #total --text 12.50', { selector: '#total', text: '12.50' }],
  ['screenshot #b', { selector: '#b' }],
  ['screenshot h1', { selector: 'h1' }],
  ['screenshot nav>a', { selector: 'nav>a' }],
  ['screenshot text=logo.png', { selector: 'text=logo.png' }],
  ['screenshot //img', { selector: '//img' }],
  ['screenshot @e12', { selector: '@e12' }],
  ['screenshot out/b.png', { path: 'out/b.png' }],
  ['screenshot ./b', { path: './b' }],
  ['screenshot b.gif', { path: 'b.gif' }],
  ['screenshot #b b.png', { selector: '#b', path: 'b.png' }],
  ['screenshot b.png #b', { selector: '#b', path: 'b.png' }],
  ['highlight h1', { enabled: true, selector: 'h1' }],
  ['highlight', { enabled: true }],
  ['highlight off', { enabled: false }],
  ['cookies clear', {}],
  ['localstorage clear', {}],
])('bax %s sets %j', (line, data) => {
  expect(parseBatch(found(line).argv, manifest, '/').commands?.[0]?.data).toEqual(data)
})

test.each([
  ['snapshot', 'observe'],
  ['close x', 'session close'],
  ['ls', 'session list'],
  ['session stop x', 'session close'],
  ['session new', 'session create'],
  ['profile new x', 'profile save'],
  ['key new x', 'key create'],
  ['relay new', 'relay connect'],
  ['relay tokens new', 'relay tokens create'],
  ['shell new', 'shell create'],
  ['shell image new', 'shell image build'],
  ['session rm x', 'session close'],
  ['profile rm x', 'profile delete'],
  ['key rm x', 'key revoke'],
  ['relay rm x', 'relay stop'],
  ['relay tokens rm x', 'relay tokens revoke'],
  ['shell stop x', 'shell delete'],
  ['crawl ls', 'crawl list'],
  ['shell artifacts ls', 'shell artifacts list'],
  ['shell ls', 'shell ls'],
  ['shell rm x', 'shell rm'],
])('bax %s is bax %s', (line, words) => {
  expect(found(line).entry?.words).toBe(words)
})

test('bax NOUN ls lists the things of every noun that has a list, except for the files of a shell', () => {
  const lists = entries.filter(({ words }) => words.endsWith(' list') && words !== 'shell list')
  expect(lists.length).toBeGreaterThan(6)
  for (const { words } of lists) expect(found(words.replace(/list$/, 'ls')).entry?.words).toBe(words)
})

test('a verb without a counterpart is unknown', () => {
  expect(found('crawl new').entry?.words).toBe('crawl')
  expect(found('search rm').entry?.words).toBe('search')
  expect(() => found('engine new')).toThrow('unknown command "engine new"')
  expect(() => found('session save x')).toThrow('unknown command "session save"')
})

test('no spelling of a browser command is the name of another command', () => {
  const nouns = new Set(entries.map(({ words }) => words.split(' ')[0]))
  const names = manifest.commands.map(({ name }) => name)
  const spellings = manifest.commands.flatMap(({ also = [] }) => also.map(({ words }) => words))
  // The words after them and their flags decide: `drag '#a' '#b'` is drag_to, `click --button right` click_advanced.
  const shared = ['click', 'drag']
  expect(spellings.filter((word) => nouns.has(word) || names.includes(word)).toSorted()).toEqual(shared)
  expect(names.filter((name) => nouns.has(name))).toEqual([])
  // Commands can share a spelling if their arguments differ; for `click`, the flags do.
  for (const words of spellings.filter((word) => word !== 'click')) {
    const forms = commandsNamed(words, manifest).flatMap((named) => named.forms.map(String))
    expect(new Set(forms).size, words).toBe(forms.length)
  }
})

test('a selector is not the path of a file', () => {
  for (const word of ['#b', '.b', '[b]', '@e1', 'text=b'])
    expect(() => parseBatch(['pdf', word], manifest, '/')).toThrow(
      `${JSON.stringify(word)} is a selector, not the path of a file: write ./${word} for a file of this name`,
    )
  expect(parseBatch(['pdf', './#b'], manifest, '/').commands?.[0]?.data).toEqual({ path: './#b' })
})

test('a proxy can be its URL', () => {
  const { params } = operationNamed(manifest, 'createSession')
  const proxy = params.find(({ name }) => name === 'proxy')!
  const read = (text: string) => flagValue(proxy, { proxy: text }, '/')
  expect(read('http://user:pw@host:3128')).toEqual({ server: 'http://user:pw@host:3128' })
  expect(read('host:3128')).toEqual({ server: 'host:3128' })
  expect(read('{"server":"socks5://host:1080","bypass":"localhost"}')).toEqual({
    server: 'socks5://host:1080',
    bypass: 'localhost',
  })
  expect(() => read('{"server')).toThrow('--proxy must be JSON')
})

describe('an unknown word', () => {
  const errorOf = (line: string) => {
    try {
      found(line)
    } catch (error) {
      return error as { message: string; hint: string }
    }
    throw new Error(`${line} is a command`)
  }

  test.each([
    ['opne', '"open"'],
    ['cilck', '"click"'],
    ['evla', '"eval"'],
    ['scrapse', '"scrape"'],
    ['device', '"set device"'],
    ['viewport', '"set viewport"'],
    ['headers', '"set headers" or "get request"'],
    ['ps', '"session list" or "shell list"'],
    ['history', '"back" or "session log"'],
    ['keyboard', '"press" or "type"'],
    ['batch', '"do" or "run"'],
    ['downloads', '"session files"'],
    ['download', '"session files" or "session download"'],
    ['session-list', '"session list"'],
    ['newPage', '"tab new"'],
    ['setViewport', '"set viewport"'],
    ['codegen', '"record"'],
    ['wget', '"scrape" or "crawl"'],
    ['attach', '"relay connect" or "shell attach"'],
    ['logs', '"session log" or "engine logs"'],
    ['upgrade', '"update"'],
  ])('%s suggests %s', (word, names) => {
    expect(errorOf(word).message).toBe(`unknown command "${word}" (did you mean ${names}?)`)
  })

  test.each([
    ['proxy', 'bax open URL --proxy'],
    ['frame', 'frame='],
    ['state-load', 'bax profile save'],
    ['state_load', 'bax profile save'],
  ])('%s says how to do it', (word, advice) => {
    expect(errorOf(word).message).toBe(`unknown command "${word}"`)
    expect(errorOf(word).hint).toContain(advice)
  })

  test('suggests only commands that exist', () => {
    const isCommand = (words: string[]): boolean => {
      const named = words.join(' ')
      return entries.some((entry) => entry.words === named) || commandsNamed(named, manifest).length > 0
    }
    const unknown = Object.values(synonyms)
      .flat()
      .filter((name) => {
        // Flags and values may follow the command.
        const words = name.split(' ')
        return (
          !isCommand(words) && !isCommand(words.slice(0, -1)) && !isCommand(words.slice(0, 1)) && words[0] !== 'close'
        )
      })
    expect(unknown).toEqual([])
  })
})
