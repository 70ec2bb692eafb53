/** The skill for agents: every line of it works as it stands, in order. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { splitWords } from '../../src/core/text/shell-words.ts'
import { bax, type CliResult } from '../support/cli.ts'
import { testImages } from '../support/docker.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { testUnless } from '../support/needs.ts'
import { serveSite, type Site } from '../support/site.ts'

const shop = `<!doctype html><html lang=en><title>Shop</title><h1>Shop</h1>
<form onsubmit="return false"><label>Name <input></label>
<button onclick="out.textContent = 'Hello ' + document.querySelector('input').value">Greet</button></form><p id=out></p>
<ul><li><a href=/tea>Green tea</a> <b>1.50 EUR</b><li><a href=/tea2>Black tea</a> <b>2.50 EUR</b></ul>`

const { stdout: skill } = await bax(['skill'])
const lines = [...skill.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, code]) => code!.trimEnd().split('\n'))

/** Commands and flags in sentences, once each. */
const inline = [
  ...new Set([...skill.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`((?:bax |-)[^`]*)`/g)].map(([, code]) => code!)),
]

/** Turns code of a sentence into a line: completes what is only named, and replaces placeholders. */
function lineOf(code: string, at: number): string {
  if (code === 'bax step' || code.includes('WORDS')) return `${code.split(' ').slice(0, 2).join(' ')} --help`
  const line = code.startsWith('-') ? `bax open URL ${code.startsWith('-s') ? '' : `-s flag-${at} `}${code}` : code
  const values = {
    URL: 'https://example.com',
    NAME: `name-${at}`,
    OTHER: 'other',
    COMMAND: 'click',
    ' example.com': ' 127.0.0.1',
  }
  return Object.entries(values).reduce((text, [name, value]) => text.replaceAll(name, value), line)
}

/** Why lines with shell sessions are skipped. */
const { absent: noShells } = testImages.find(({ image }) => image === 'bax-shell:default')!

let homes: Homes
let site: Site
let folder: string
beforeAll(async () => {
  homes = await openHomes()
  site = await serveSite({
    '/': shop,
    '/login':
      '<form action=/tea><input name=user autocomplete=username><input type=password><button>Log in</button></form>',
    '/tea': '<title>Green</title><p>Green tea',
    '/tea2': '<title>Black</title><p>Black tea',
  })
  folder = await mkdtemp(join(tmpdir(), 'bax-skill-'))
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(folder, { recursive: true, force: true })
})

/** Runs a line against the local site. */
function run(line: string): Promise<CliResult> {
  const { words } = splitWords(line.replaceAll('https://example.com', site.url))
  expect(words[0]).toBe('bax')
  return bax(words.slice(1), { cwd: folder, env: { BAX_SERVER: homes.baseUrl, BAX_STATE_DIR: join(folder, 'state') } })
}

/** Parts of the output of lines, by the beginning of the line. */
const outputs: Readonly<Record<string, RegExp>> = {
  'bax snapshot -i': /textbox "Name" \[ref=e1\][\s\S]*button "Greet" \[ref=e2\]/,
  'bax snapshot --diff': /Hello Ann/,
  'bax step': /Hello Bob/,
  'bax get text h1': /^Shop\n$/,
  'bax get url': /^http/,
  'bax find Hello': /Hello Bob/,
  'bax eval': /^Shop\n$/,
  'bax scrape https://example.com --schema': /"price"/,
  'bax map': /\/tea\n/,
  'bax shell read': /^6\n$/,
}

// Its lines use one session, one after the other.
describe('the core', { shuffle: false }, () => {
  test('has front matter, and fewer than 6000 characters', () => {
    expect(skill).toMatch(/^---\nname: bax\ndescription: [^\n]{50,1024}\n---\n/)
    expect(skill.length).toBeLessThan(6000)
  })

  test('has examples of every part', () => {
    expect(lines.length).toBeGreaterThan(25)
    for (const start of Object.keys(outputs))
      expect(
        lines.some((line) => line.startsWith(start)),
        start,
      ).toBe(true)
  })

  for (const [at, line] of lines.entries()) {
    testUnless(line.startsWith('bax shell') ? noShells : null)(`${at + 1}: ${line.slice(0, 100)}`, async () => {
      const { code, stdout, stderr } = await run(line)
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
      // The longest matching beginning.
      const start = Object.keys(outputs)
        .filter((one) => line.startsWith(one))
        .toSorted((a, b) => b.length - a.length)[0]
      if (start) expect(stdout).toMatch(outputs[start]!)
    })
  }
})

describe('the sentences of the core', () => {
  test('name commands', () => {
    expect(inline.length).toBeGreaterThan(8)
  })

  for (const [at, code] of inline.entries())
    test(code, async () => {
      await run('bax open https://example.com')
      const line = lineOf(code, at)
      if (line.includes('--profile')) await run(`bax profile save name-${at}`)
      if (line.startsWith('bax login')) {
        const origins = [site.url]
        await homes.clients.http.addCredential({ name: `name-${at}`, origins, username: 'ann', password: 'correct' })
        await run('bax open https://example.com/login')
      }
      const { code: exit, stderr } = await run(line)
      expect({ exit, stderr: exit === 0 ? '' : stderr }).toEqual({ exit: 0, stderr: '' })
      if (!line.includes('--allowed-domains')) return
      const other = await run(`bax open ${site.url.replace('127.0.0.1', 'localhost')} -s name-${at}`)
      expect(other.stderr).toContain('url_blocked')
    })
})

test('--full prints the references, too', async () => {
  const { stdout } = await bax(['skill', '--full'])
  expect(stdout.startsWith(skill.trimEnd())).toBe(true)
  expect(stdout).toContain('# Selectors')
})

test('--install writes the skill and its references, whose links lead to files', async () => {
  const { stdout } = await bax(['skill', '--install', 'skills'], { cwd: folder })
  expect(stdout).toBe(`${join(folder, 'skills/bax/SKILL.md')}\n`)
  expect(await readFile(join(folder, 'skills/bax/SKILL.md'), 'utf8')).toBe(skill)
  const references = join(folder, 'skills/bax/references')
  const names = await readdir(references)
  for (const [, target] of skill.matchAll(/\]\(references\/([^)]+)\)/g)) expect(names).toContain(target)
  for (const name of names) {
    const text = await readFile(join(references, name), 'utf8')
    for (const [, target] of text.matchAll(/\]\(([\w-]+\.md)/g)) expect(names, `${name} -> ${target}`).toContain(target)
  }
})

test.each([
  [['--full', '--install', 'x'], '--full cannot be used with --install'],
  [['--install', '/dev/null'], 'cannot write /dev/null/bax'],
])('%j is refused', async (flags, message) => {
  const { code, stderr } = await bax(['skill', ...flags], { cwd: folder })
  expect(code).toBe(2)
  expect(stderr).toContain(message)
})
