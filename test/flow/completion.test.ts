import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commands } from '../../src/commands/index.ts'
import { bax, buildBax, type BuiltBax } from '../support/cli.ts'
import { missingPrograms, testUnless } from '../support/needs.ts'

/** Returns the completions of the last word. */
async function offered(...typed: string[]): Promise<{ values: string[]; files: boolean }> {
  const { stdout, stderr, code } = await bax(['complete', '--', ...typed])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
  const lines = stdout.trimEnd().split('\n')
  return { values: lines.slice(0, -1).map((line) => line.split('\t')[0]!), files: lines.at(-1) === ':files' }
}

describe('completions', () => {
  test('list the first words of all public commands', async () => {
    const { values } = await offered('')
    expect(values).toEqual(expect.arrayContaining(['do', 'scrape', 'session', 'shell', 'relay', 'crawl', 'completion']))
    expect(values).not.toContain('complete')
    expect(new Set(values).size).toBe(values.length)
  })

  test('list the verbs of a noun', async () => {
    expect((await offered('session', '')).values).toEqual(expect.arrayContaining(['create', 'list', 'view', 'watch']))
    expect((await offered('session', 'cl')).values).toEqual(['close'])
    expect((await offered('shell', 'artifacts', '')).values.toSorted()).toEqual(['download', 'list', 'show'])
  })

  test('list only main names of commands and flags', async () => {
    const { values } = await offered('')
    expect(values.filter((value) => ['ls', 'close', 'snapshot', 'goto', 'version'].includes(value))).toEqual([])
    expect((await offered('session', '')).values.filter((value) => ['ls', 'rm', 'new'].includes(value))).toEqual([])
    const flags = (await offered('session', 'create', '--')).values
    expect(flags).toEqual(expect.arrayContaining(['--name', '--profile']))
    expect(flags.filter((flag) => ['--requested-name', '--profile-id'].includes(flag))).toEqual([])
  })

  test('list the names of commands and topics after `help`', async () => {
    expect((await offered('he')).values).toEqual(['help'])
    const { values, files } = await offered('help', '')
    expect(values).toEqual(expect.arrayContaining(['do', 'scrape', 'session', 'shell', 'relay', 'crawl']))
    expect([values.includes('help'), files]).toEqual([false, false])
    expect((await offered('help', 'session', 'cl')).values).toEqual(['close'])
    expect((await offered('help', 'scr')).values).toEqual(['scrape', 'scraping', 'scripts'])
    expect((await offered('help', 'obs')).values).toEqual(['observe'])
    expect((await offered('help', 'do', 'get-ti')).values).toEqual(['get-title'])
    expect((await offered('help', 'run', '')).values).toEqual([])
    expect((await offered('help', 'scrape', '--')).values).toEqual([])
  })

  test('list every flag of a command, its own and global ones', async () => {
    const { values } = await offered('scrape', '--')
    expect(values).toEqual(
      expect.arrayContaining(['--formats', '--wait-for', '--no-only-main-content', '--json', '--help']),
    )
    expect((await offered('session', 'create', '--start')).values).toEqual(['--start-url'])
    expect((await offered('run', '--rep')).values).toContain('--reporter')
  })

  test('list the values of a flag with choices, also after a comma and an equals sign', async () => {
    expect((await offered('observe', '--include', 'snap')).values).toEqual(['snapshot'])
    expect((await offered('observe', '--include', 'text,snap')).values).toEqual(['text,snapshot'])
    expect((await offered('observe', '--include=text,snap')).values).toEqual(['--include=text,snapshot'])
  })

  test('list the browser commands after do and then, with the flags of each', async () => {
    const { values } = await offered('do', '')
    const names = Object.values(commands).flatMap((family) =>
      Object.keys(family).map((name) => name.replaceAll('_', '-')),
    )
    expect(values.toSorted()).toEqual(names.toSorted())
    expect((await offered('do', 'click', '#a', 'then', 'get-ti')).values).toEqual(['get-title'])
    expect((await offered('do', 'navigate-to', 'x', 'then', 'screenshot', '--full')).values).toEqual(['--full-page'])
    expect((await offered('do', 'click', '#a', 'th')).values).toEqual(['then'])
    expect((await offered('do', 'no-such', '--')).values).toEqual([])
  })

  test('list the browser commands and their flags without do', async () => {
    expect((await offered('')).values).toEqual(expect.arrayContaining(['click', 'session', 'get-title']))
    expect((await offered('get-ti')).values).toEqual(['get-title'])
    expect((await offered('screenshot', '--full')).values).toEqual(['--full-page'])
    expect((await offered('-s', 'shop', 'click', '#a', 'then', 'get-ti')).values).toEqual(['get-title'])
  })

  test('list files for file arguments', async () => {
    expect((await offered('run', '')).files).toBe(true)
    expect((await offered('extract', 'p')).files).toBe(true)
    expect((await offered('crawl', 'https://example.com', '-o', '')).files).toBe(true)
    expect((await offered('session', '')).files).toBe(false)
  })

  test('are empty for unknown commands', async () => {
    expect(await offered('no-such', '')).toEqual({ values: [], files: false })
  })

  test('an unsupported shell is named in the error', async () => {
    const { code, stderr } = await bax(['completion', 'fisch'])
    expect(code).toBe(2)
    expect(stderr).toContain('did you mean "fish"')
  })
})

describe('in real shells', () => {
  let built: BuiltBax
  let folder: string
  let stateDir: string
  let env: Record<string, string | undefined>

  beforeAll(async () => {
    built = await buildBax()
    stateDir = await built.stateDir()
    folder = await mkdtemp(join(tmpdir(), 'bax-test-completion-'))
    const program = join(folder, 'bax')
    await writeFile(program, `#!/bin/sh\nexec ${process.execPath} ${built.program} "$@"\n`)
    await chmod(program, 0o755)
    env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}`, BAX_STATE_DIR: stateDir }
  })
  afterAll(async () => {
    await built.close()
    await rm(folder, { recursive: true, force: true })
  })
  const ask = async (shell: string, code: string) => {
    const { stdout } = await promisify(execFile)(shell, ['-c', code], { env: env as NodeJS.ProcessEnv, cwd: folder })
    return stdout.trim().split('\n')
  }
  const inBash = (...words: string[]) => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    return ask(
      'bash',
      `source <(bax completion bash); COMP_WORDS=(bax ${quoted}); COMP_CWORD=${words.length}; _bax 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
  }

  testUnless(missingPrograms('bash'))('bash completes words, flags, and the names of live sessions', async () => {
    expect(await inBash('sess')).toEqual(['session'])
    expect(await inBash('session', 'create', '--start')).toEqual(['--start-url'])
    await built.run(['session', 'create', '--name', 'shop', '--state-dir', stateDir])
    // The engine has half a second to answer.
    await expect.poll(() => inBash('do', '-s', 'sh')).toEqual(['shop'])
    await expect.poll(() => inBash('session', 'close', '')).toEqual(['shop'])
  })

  testUnless(missingPrograms('bash'))('bash completes commands that have a module of their own', async () => {
    expect(await inBash('serve', '--po')).toEqual(['--port'])
    expect(await inBash('serve', '--log-format', '')).toEqual(['json', 'text'])
    expect(await inBash('session', 'view', '--pr')).toEqual(['--print'])
    expect(await inBash('run', '--confirm', 'down')).toEqual(['download'])
  })

  testUnless(missingPrograms('fish'))('fish completes with descriptions', async () => {
    const [line] = await ask('fish', `bax completion fish | source; complete -C 'bax session cl'`)
    expect(line).toMatch(/^close\tClose a browser session/)
  })

  testUnless(missingPrograms('zsh'))('zsh takes the script', async () => {
    const code = `autoload -Uz compinit && compinit -u -d ${folder}/dump; source <(bax completion zsh); echo $_comps[bax]`
    expect(await ask('zsh', code)).toEqual(['_bax'])
  })
})
