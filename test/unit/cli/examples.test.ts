/** Parses every example of every help page with the parser that parses command lines. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandTable, findCommand } from '../../../src/cli/parse/command-table.ts'
import { makeCliManifest } from '../../../src/cli/parse/make-manifest.ts'
import type { Invocation } from '../../../src/cli/parse/invocation.ts'
import { loadCommand } from '../../../src/cli/parse/command-modules.ts'
import { readScripts } from '../../../src/cli/run/script/script.ts'
import { makeVerbs } from '../../../src/cli/run/script/verbs.ts'
import { bax } from '../../support/cli.ts'

const manifest = await makeCliManifest()
const entries = commandTable(manifest)
const shown = entries.filter(({ hidden }) => !hidden)
const nouns = [
  ...new Set(shown.flatMap(({ words }) => (words.includes(' ') ? words.slice(0, words.lastIndexOf(' ')) : []))),
]

const pages = [
  '',
  ...nouns.filter((noun) => shown.every(({ words }) => words !== noun)),
  ...shown.map(({ words }) => words),
  ...manifest.commands.flatMap(({ name }) => [`do ${name}`, `step ${name}`]),
]

/** Returns the examples at the end of a help page. */
async function examplesOf(page: string): Promise<string[]> {
  const { stdout } = await bax([...page.split(' ').filter(Boolean), '--help'])
  const [, list = ''] = /\nExamples?:\n((?: {2}\S.*\n)+)/.exec(stdout) ?? []
  return list.split('\n').flatMap((line) => line.trim() || [])
}

/** Splits a line of a shell into the arguments of each `bax` on it, without redirections and other programs. */
function calls(line: string): string[][] {
  const commands: string[][] = [[]]
  for (const [token] of line.replaceAll(/<\((.*)\)/g, '&& $1').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    if (token === '&&' || token === '|') commands.push([])
    else commands.at(-1)!.push(token)
  }
  return commands
    .filter(([program]) => program === 'bax')
    .map(([, ...words]) => {
      const redirection = words.findIndex((word) => word === '<' || word === '>')
      return words
        .slice(0, redirection < 0 ? undefined : redirection)
        .map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => single ?? double))
    })
}

/** Reads nothing beyond the arguments: the environment is read once they are parsed. */
class Parsed extends Error {}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-examples-'))
  // Files that examples read.
  for (const name of ['rows.csv', 'main.py', 'photo.png', 'prices.js', 'pages.js'])
    await writeFile(join(folder, name), 'x\n')
  await writeFile(join(folder, 'urls.txt'), 'https://example.com\n')
  await mkdir(join(folder, 'state'))
  await mkdir(join(folder, 'photos'))
  await writeFile(join(folder, 'photos/beach.txt'), 'x\n')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Parses a command that has effects on this machine, and stops it there. */
async function parseOnly(argv: readonly string[]): Promise<void> {
  const { entry, argv: rest } = findCommand(entries, manifest, argv)
  const io = {
    cwd: folder,
    get env(): never {
      throw new Parsed()
    },
  } as unknown as Invocation['io']
  const { run } = await loadCommand(entry!.words)
  const invocation = { io, manifest, words: entry!.words, summary: '', examples: [], argv: rest }
  await expect(run(invocation)).rejects.toBeInstanceOf(Parsed)
}

/** Runs a command without an engine: it must get as far as looking for one. */
async function runWithoutEngine(argv: readonly string[]): Promise<void> {
  const env = { BAX_SERVER: 'http://127.0.0.1:1', BAX_STATE_DIR: join(folder, 'state') }
  const { code, stderr } = await bax(argv, { cwd: folder, env, stdin: '[{"command":"get_title"}]' })
  // `shell exec` has exit codes of its own.
  expect([0, 3, 125], stderr).toContain(code)
  expect(stderr).toMatch(/^$|is not reachable|cannot reach|ECONNREFUSED/)
}

describe.each(pages)('bax %s --help', (page) => {
  test('has examples that parse', async () => {
    const examples = await examplesOf(page)
    expect(examples.length).toBeGreaterThan(0)
    expect(examples.length).toBeLessThanOrEqual(4)
    for (const example of examples) {
      const typed = calls(example)
      expect(typed.length, example).toBeGreaterThan(0)
      for (const argv of typed) {
        const { entry } = findCommand(entries, manifest, argv)
        await (entry!.place === 'own process' ? parseOnly : runWithoutEngine)(argv)
      }
    }
  })
})

/** Commands that can be called in one way only. */
const trivial = new Set([
  'credential delete',
  'engine stop',
  'openapi',
  'profile delete',
  'relay tokens revoke',
  'session cancel',
])

test('every command that can be called in different ways has several examples', () => {
  const few = shown.filter(({ examples }) => examples.length < 2).map(({ words }) => words)
  const missing = few.filter((words) => !trivial.has(words))
  expect(missing, 'give these a second example, or list them in `trivial`').toEqual([])
})

test('the script in the help of `bax run` is valid', async () => {
  const { stdout } = await bax(['run', '--help'])
  const script = /\n( {2}steps:\n(?: {4}.*\n)+)/.exec(stdout)![1]!
  const { errors, plans } = readScripts(['help.yaml'], {
    cwd: folder,
    given: { env: {}, runId: 'run_1' },
    overrides: {},
    verbs: makeVerbs(),
    strict: false,
    checkOnly: false,
    readFile: () => script,
  })
  expect(errors).toEqual([])
  expect(plans).toHaveLength(1)
})
