import { describe, expect, test } from 'vitest'
import { loadCommand } from '../../../src/cli/parse/command-modules.ts'
import { commandTable } from '../../../src/cli/parse/command-table.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import { bax } from '../../support/cli.ts'

const manifest = await makeCliManifest()
const entries = commandTable(manifest)
const shown = entries.filter(({ hidden }) => !hidden)
const firstWords = [...new Set(shown.map(({ words }) => words.split(' ', 1)[0]!))]

test('every command is in the file with its name', async () => {
  const byHand = entries.filter(({ operation }) => !operation)
  expect(byHand).toEqual(manifest.terminal)
  for (const { words, rest } of byHand) {
    const { cli } = await loadCommand(words)
    expect(cli).toBe(`${words} ${rest}`.trimEnd())
  }
})

describe('the help', () => {
  test('fits `bax --help` on one screen', async () => {
    const { code, stdout, stderr } = await bax(['--help'])
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines.length).toBeLessThan(24)
    expect(lines.filter((line) => line.length > 80)).toEqual([])
    const missing = firstWords.filter((word) => !new RegExp(`^  (\\w+, )*${word}\\b`, 'm').test(stdout))
    expect(missing, 'add these to a line of `bax --help` in src/cli/output/help.ts').toEqual([])
    expect(await bax([])).toEqual(await bax(['--help']))
  })

  test('describes every noun', async () => {
    const nouns = firstWords.filter((word) => shown.every(({ words }) => words !== word))
    const pages = await Promise.all(nouns.map(async (noun) => [noun, (await bax([noun])).stdout] as const))
    const bare = pages.filter(([, page]) => !/^[A-Z].*\n\nCommands:/.test(page)).map(([noun]) => noun)
    expect(bare, 'describe these in `nouns` of src/cli/output/help.ts').toEqual([])
  })

  test.each(shown.map(({ words, summary }) => [words, summary] as const))(
    'prints the summary and an example for `bax %s --help`',
    async (words, summary) => {
      const { code, stdout, stderr } = await bax([...words.split(' '), '--help'])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain(`bax ${words}`)
      if (words !== 'do' && words !== 'step') expect(stdout.replaceAll(/\s+/g, ' ')).toContain(summary)
      expect(stdout).toMatch(/Examples?:\n {2}(?:source <\()?bax /)
    },
  )

  test('lists every command of the catalogue for `bax do --help`', async () => {
    const { stdout } = await bax(['do', '--help'])
    for (const { name, summary } of manifest.commands) {
      expect(stdout).toMatch(new RegExp(`^  ${name.replaceAll('_', '-')} .*(\\n +)?${summary.slice(0, 10)}`, 'm'))
    }
    expect(stdout.match(/^[A-Z][a-z ]+:$/gm)).toEqual(expect.arrayContaining(['Navigation:', 'Web storage:']))
  })

  test.each(manifest.commands.map(({ name }) => name.replaceAll('_', '-')))(
    '`bax do %s --help` shows its fields and an example',
    async (name) => {
      const { code, stdout } = await bax(['do', name, '--help'])
      expect(code).toBe(0)
      const entry = manifest.commands.find((command) => command.name === name.replaceAll('-', '_'))!
      for (const param of entry.params) expect(stdout).toContain(param.name.replaceAll('_', '-'))
      expect(stdout).toMatch(new RegExp(`\nExamples?:\n  bax ${name}`))
    },
  )

  test.each([
    [undefined, 80],
    [40, 60],
    [70, 70],
    [100, 100],
    [200, 120],
  ])('fits a terminal of %s columns: lines have at most %s characters', async (columns, width) => {
    // Usage and examples stay in one line each, to be copied.
    const isProse = (line: string) => !/^(Usage:| {7}bax | {2}(bax|curl|source) )/.test(line)
    for (const page of ['session create', 'crawl', 'do', 'do click', 'step', 'run', 'shell', 'relay tokens', '']) {
      const { stdout } = await bax([...page.split(' ').filter(Boolean), '--help'], {
        tty: columns !== undefined,
        columns,
      })
      const lengths = stdout
        .split('\n')
        .filter(isProse)
        .map(({ length }) => length)
      expect(Math.max(...lengths), page).toBeLessThanOrEqual(width)
      if (page === 'crawl' || page === 'session create') expect(Math.max(...lengths)).toBeGreaterThan(width - 12)
    }
  })

  test('shows the positional forms of a command, and describes the words that are not flags, too', async () => {
    const { stdout } = await bax(['press-key', '--help'])
    expect(stdout).toMatch(/^Usage: bax press-key <selector> <key> \[flags\]\n {7}bax press-key <key> \[flags\]$/m)
    expect(stdout).toMatch(/^Arguments:\n {2}key +A character/m)
    expect((await bax(['screenshot', '--help'])).stdout).not.toContain('<full-page>')
  })

  test('prints the verbs of a noun', async () => {
    const { code, stdout } = await bax(['session'])
    expect(code).toBe(0)
    for (const verb of ['create', 'list', 'show', 'use', 'watch', 'close'])
      expect(stdout).toContain(`bax session ${verb}`)
    expect(await bax(['session', '--help'])).toMatchObject({ code: 0, stdout })
    expect((await bax(['engine'])).stdout).not.toContain('engine run')
  })

  test('prints only the version for `bax --version`', async () => {
    expect((await bax(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    for (const word of ['version', '-V', '-v']) expect(await bax([word])).toEqual(await bax(['--version']))
  })
})

describe('invalid arguments', () => {
  test.each([
    ['sesion list', 'unknown command "sesion" (did you mean "session"?)', 'bax --help'],
    ['session lst', 'unknown command "session lst" (did you mean "list"?)', 'use "bax session" with one of'],
    ['get-titel', 'unknown command "get-titel"', 'did you mean "get-title"?'],
    ['https://a.example/', 'unknown command "https://a.example/"', 'use "bax open https://a.example/" for a session'],
    ['-L http://a.example/', 'unknown command "http://a.example/"', '"bax request http://a.example/" for the response'],
    ['assert h1', 'unknown command "assert" (did you mean "verify"?)', ''],
    ['contains Submit', 'unknown command "contains" (did you mean "verify" or "find-text"?)', ''],
    ['rightclick a', 'unknown command "rightclick" (did you mean "click --button right"?)', ''],
    ['xyzzy', 'unknown command "xyzzy"', 'run "bax --help"'],
    ['session create --headles', 'unknown flag --headles (did you mean --headless?)', 'bax session create --help'],
    ['session show a b', 'too many words: b', 'usage: bax session show [session-id]'],
    ['session show a -s b', '<session-id> "a" and -s "b" exclude each other', 'give one of them'],
    [
      'session create example.com --start-url example.org',
      '<start-url> "example.com" and --start-url "example.org" exclude',
      '',
    ],
    ['profile show', '<profile-id> is missing', 'usage: bax profile show <profile-id>'],
    ['session list --status readi', '--status must be one of', ''],
    ['session create --viewport wide', '--viewport must be WIDTHxHEIGHT or JSON, not "wide"', ''],
    ['session create --idle-timeout-secs x', '--idle-timeout-secs must be a number, not "x"', ''],
    ['session create --tags @/nonexistent', '--tags: cannot read /nonexistent: no such file or folder', ''],
    ['session create --name', '--name needs a value', ''],
    ['session create --nam x', 'unknown flag --nam (did you mean --name?)', ''],
    ['scrape x --only-main-content', 'unknown flag --only-main-content', 'leave it out, since it is the default'],
    ['scrape x --only-main-content on', 'unknown flag --only-main-content', 'leave it out, since it is the default'],
    [
      'screenshot --no-full-page',
      'unknown flag --no-full-page',
      'leave it out, since it is the default; --full-page is its opposite',
    ],
    ['crawl x --site-memory off', 'unknown flag --site-memory', 'hint: use --no-site-memory'],
    ['crawl --site-memory=off x', 'unknown flag --site-memory=off', 'hint: use --no-site-memory'],
    ['extract x --site-memory No', 'unknown flag --site-memory', 'hint: use --no-site-memory'],
    ['scrape --only-main-content false x', 'unknown flag --only-main-content', 'hint: use --no-only-main-content'],
    ['scrape x --block-ads 0', 'unknown flag --block-ads', 'hint: use --no-block-ads'],
    ['click --selector h1', 'unknown flag --selector', 'give it as a word: bax click <selector>'],
    ['screenshot --full', 'unknown flag --full (did you mean --full-page?)', ''],
    ['screenshot --out x', 'unknown flag --out (did you mean --output?)', ''],
    ['state save st.json', 'too many words: st.json', 'usage: bax capture-state -o st.json'],
    ['stop', '"stop" is incomplete (did you mean "close" or "engine stop"?)', 'one of har, trace, video'],
    ['record out.yaml', '"out.yaml" is the name of a script, not a URL', 'use "bax record [url] -o out.yaml"'],
    ['observe -o -', '--output must be a file', 'bax screenshot -o -'],
    ['session create --requestedname x', 'unknown flag --requestedname (did you mean --name?)', ''],
    ['do -s shop --new-session get-title', '--new-session cannot be used with session "shop"', 'leave out one'],
    ['observe --embedded', 'no session is named', 'leave out --embedded'],
    ['--server', '--server needs a command', ''],
    ['api GET', '<path> is missing', 'usage: bax api <METHOD> <path>'],
    ['api POST /sessions -d {', '--data is not JSON', ''],
    ['engine logs --lines 0', '--lines must be at least 1, not 0', ''],
  ])('make `bax %s` exit with 2: %s', async (line, sentence, hint) => {
    const { code, stdout, stderr } = await bax(line.split(' '), { env: { BAX_STATE_DIR: '/nonexistent/state' } })
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error: ${sentence}`)
    expect(stderr).toContain(hint)
  })

  test('print the error to stdout with --json', async () => {
    const { code, stdout, stderr } = await bax(['session', 'lst', '--json'])
    expect(code).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ success: false, code: 'invalid_request' })
    expect(stderr).toContain('error: ')
  })
})
