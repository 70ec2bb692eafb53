/** The GitHub Action: its commands, as a runner starts them, on the demo site. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { type BuiltBax, buildBax } from '../support/cli.ts'
import { type Site, serveSite } from '../support/site.ts'
import { article } from '../support/web.ts'

interface Step {
  readonly name?: string
  readonly run?: string
  readonly env?: Readonly<Record<string, string>>
}

const file = fileURLToPath(new URL('../../.github/actions/run/action.yml', import.meta.url))

let built: BuiltBax
let site: Site
let folder: string
let state: string
let steps: readonly Step[]
beforeAll(async () => {
  ;[built, site, folder] = await Promise.all([
    buildBax(),
    serveSite({ '/article': article }),
    mkdtemp(join(tmpdir(), 'bax-action-')),
  ])
  state = await built.stateDir()
  steps = (parse(await readFile(file, 'utf8')) as { runs: { steps: Step[] } }).runs.steps
  await mkdir(join(folder, 'bin'))
  // `npm` and `bax setup` would change this machine: they only report how they were called.
  await program('npm', 'echo "npm $*" >> calls.txt')
  await program(
    'bax',
    `[ "$1" = setup ] && echo "bax $*" >> calls.txt || exec ${process.execPath} ${built.program} "$@"`,
  )
})
afterAll(async () => {
  await Promise.all([built?.close(), site?.close()])
  await rm(folder, { recursive: true, force: true })
})

async function program(name: string, line: string): Promise<void> {
  await writeFile(join(folder, 'bin', name), `#!/bin/sh\n${line}\n`)
  await chmod(join(folder, 'bin', name), 0o755)
}

/** Runs the commands of a step with inputs, as a runner does with `shell: bash`; returns the exit code. */
async function runStep(name: string, inputs: Readonly<Record<string, string>>): Promise<number> {
  const step = steps.find((one) => one.name === name)!
  const valueOf = (_: string, path: string) => (path === 'runner.temp' ? folder : inputs[path.replace('inputs.', '')]!)
  const env = Object.entries(step.env!).map(([key, text]) => [key, text.replaceAll(/\$\{\{ (\S+) \}\}/g, valueOf)])
  const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run!], {
    cwd: folder,
    env: {
      ...process.env,
      ...Object.fromEntries(env),
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      BAX_STATE_DIR: state,
    },
    stdio: 'ignore',
  })
  return ((await once(child, 'exit')) as [number])[0]
}

const script = (text: string) =>
  `steps:\n  - navigate_to: ${site.url}/article\n  - get_text: h1\n    expect: {contains: ${text}}\n`

test('installs the package and a browser', async () => {
  expect(await runStep('Install bax and a browser', { package: 'bax@1.0.0' })).toBe(0)
  expect(await readFile(join(folder, 'calls.txt'), 'utf8')).toBe(
    'npm install --global bax@1.0.0\nbax setup --no-full\n',
  )
})

test('runs scripts and writes their reports, and fails with a script that fails', async () => {
  await writeFile(join(folder, 'first one.yaml'), script('delta'))
  await mkdir(join(folder, 'more'))
  await writeFile(join(folder, 'more/second.yaml'), script('no such word'))
  const reports = async () =>
    Promise.all(['junit.xml', 'report.html'].map((name) => readFile(join(folder, 'bax-report', name), 'utf8')))
  expect(await runStep('Run the scripts', { scripts: 'first one.yaml\n', args: '' })).toBe(0)
  expect((await reports())[0]).toMatch(/<testsuites[^>]* tests="2" failures="0"/)
  expect(await runStep('Run the scripts', { scripts: 'first one.yaml\nmore/\n', args: '--parallel=2\n' })).toBe(1)
  const [junit, html] = await reports()
  expect(junit).toMatch(/<testsuites[^>]* tests="4" failures="1"/)
  expect(html).toContain('no such word')
})

test('never runs text of an input as a command', async () => {
  const hostile = '$(touch touched.txt)'
  expect(await runStep('Run the scripts', { scripts: hostile, args: `; touch touched.txt` })).not.toBe(0)
  await expect(readFile(join(folder, 'touched.txt'))).rejects.toThrow('ENOENT')
})
