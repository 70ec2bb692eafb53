import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse as parseYaml } from 'yaml'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { scriptsOnServer } from '../support/scripts.ts'

const given = scriptsOnServer()
const { run, page, passing } = given

describe('the command line', () => {
  test('--check only validates scripts', async () => {
    await given.folder.write('a.yaml', 'steps: [get_title, get_title]\n')
    await given.folder.write('b.json', '{"commands":[{"command":"get_title"}]}')
    expect(await given.folder.run(['a.yaml', 'b.json', '--check'])).toEqual(
      expect.objectContaining({ code: 0, stdout: 'a.yaml: 2 steps, no errors\nb.json: 1 step, no errors\n' }),
    )
    await given.folder.write('a.yaml', 'steps: [{clik: a}]\n')
    expect(await given.folder.run(['a.yaml', '--check'])).toMatchObject({ code: 2, stdout: '' })
  })

  test('reads scripts from standard input and pipes, with their includes', async () => {
    await given.folder.write('login.yaml', 'steps: [get_title]\n')
    const stdin = 'steps: [{include: login.yaml}, get_title]\n'
    expect(await given.folder.run(['-', 'login.yaml', '--check'], { stdin })).toMatchObject({
      code: 0,
      stdout: '-: 2 steps, no errors\nlogin.yaml: 1 step, no errors\n',
    })
    expect(await given.folder.run(['-', '--check'], { stdin: 'steps: [{clik: a}]\n' })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('-:1:10: unknown command "clik"'),
    })
    const pipe = join(given.folder.path, 'pipe')
    await promisify(execFile)('mkfifo', [pipe])
    const [checked] = await Promise.all([given.folder.run(['pipe', '--check']), writeFile(pipe, stdin)])
    expect(checked).toMatchObject({ code: 0, stdout: 'pipe: 2 steps, no errors\n' })
  })

  test.each(['--watch', '--update'])('%s rejects a script from standard input', async (flag) => {
    expect(await given.folder.run(['-', flag], { stdin: given.passing })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${flag} cannot be used with a script from standard input`),
    })
  })

  test('rejects a script from standard input that is too large', async () => {
    const stdin = `# ${'x'.repeat(limits.scriptBytes)}\n`
    expect(await given.folder.run(['-', '--check'], { stdin })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the script from standard input is larger than'),
    })
  })

  test('--check needs no environment variables', async () => {
    await given.folder.write('a.yaml', 'secrets: [TOKEN]\nsteps: [{evaluate: "${env.TOKEN} ${env.OTHER}"}]\n')
    expect(await given.folder.run(['a.yaml', '--check'])).toMatchObject({
      code: 0,
      stdout: 'a.yaml: 1 step, no errors\n',
    })
    const { code, stderr } = await run(['a.yaml'])
    expect(code).toBe(2)
    expect(stderr).toContain('environment variable TOKEN is not set')
  })

  test('--check --json prints the scripts', async () => {
    await given.folder.write('a.yaml', 'name: Sign in\nsteps: [get_title, get_title]\n')
    await given.folder.write('b.json', '{"commands":[{"command":"get_title"}]}')
    const { code, stdout, stderr } = await given.folder.run(['a.yaml', 'b.json', '--check', '--json'])
    expect([code, stderr]).toEqual([0, ''])
    const scripts = [
      { file: 'a.yaml', name: 'Sign in', steps: 2 },
      { file: 'b.json', name: 'b', steps: 1 },
    ]
    expect(JSON.parse(stdout)).toEqual({ success: true, scripts, errors: [] })
  })

  test.each([[['--check']], [[]]])(
    '--json with %j prints the errors of all scripts, identical ones together',
    async (flags) => {
      await given.folder.write('a.yaml', 'steps:\n  - clik: a\n  - evaluate: ${vars.x}\n')
      await given.folder.write('b.yaml', 'steps:\n  - click: "a\n')
      await given.folder.write('c.yaml', 'steps: [get_title]\nfinally:\n  - clik: b\n')
      const { code, stdout, stderr } = await run(['a.yaml', 'b.yaml', 'c.yaml', 'd.yaml', '--json', ...flags])
      expect(code).toBe(2)
      expect(stderr).toContain('  also at c.yaml:3:5\n')
      const summary = '5 errors in 3 files; nothing was run'
      expect(stderr).toContain(summary)
      expect(JSON.parse(stdout)).toEqual({
        success: false,
        error: summary,
        message: summary,
        code: 'invalid_request',
        errors: [
          { message: 'script not found: d.yaml', places: [] },
          {
            message: 'unknown command "clik" (did you mean "click"?)',
            places: [
              { file: 'a.yaml', line: 2, column: 5 },
              { file: 'c.yaml', line: 3, column: 5 },
            ],
          },
          { message: expect.stringContaining('${vars.x}'), places: [{ file: 'a.yaml', line: 3, column: 15 }] },
          { message: expect.stringContaining('is not closed'), places: [{ file: 'b.yaml', line: 2, column: 12 }] },
        ],
      })
    },
  )

  test('errors with --json mask secrets', async () => {
    await given.folder.write('a.yaml', 'secrets: [TOKEN]\nsteps: [{"${env.TOKEN}": 1}, {hunter2: 1}]\n')
    const { stdout, stderr } = await given.folder.run(['a.yaml', '--json'], { env: { TOKEN: 'hunter2' } })
    expect(stdout + stderr).not.toContain('hunter2')
    expect(stdout).toContain('unknown command \\"***\\"')
  })

  test('--schema prints a JSON Schema that accepts valid and refuses invalid scripts', async () => {
    const { code, stdout, bytes } = await given.folder.run(['--schema'])
    expect(code).toBe(0)
    expect(bytes.length).toBeLessThan(300_000)
    const validate = new Ajv2020({ strict: false, logger: false }).compile(JSON.parse(stdout) as object)
    const fixtures = ['login.yaml', 'shop.yaml'].map((name) =>
      fileURLToPath(new URL(`../fixtures/scripts/${name}`, import.meta.url)),
    )
    for (const file of fixtures) expect(validate(parseYaml(await readFile(file, 'utf8'))), file).toBe(true)
    expect(validate({ commands: [{ command: 'click', data: { selector: 'a' } }, { command: 'get-title' }] })).toBe(true)
    const wrong = [
      { steps: [{ clik: 'a' }] },
      { steps: [{ type_text: { selector: 'a' } }] },
      { steps: [{ click: 'a', hover: 'b' }] },
      { steps: [{ click: 'a', timeout: 1 }] },
      { steps: [{ navigate_to: 'http://x', 'navigate-to': 'http://x' }] },
      { steps: [{ commands: [{ command: 'get-titel' }] }] },
      { steps: ['click'] },
      { steps: [{ wait_for_element: { selector: 'a', timeout_ms: 'soon' } }] },
      { steps: [], sesion: {} },
      { steps: [{ get_title: null, expect: { equls: 1 } }] },
    ]
    for (const script of wrong) expect(validate(script), JSON.stringify(script)).toBe(false)
    const right = [
      { steps: [{ wait_for_element: { selector: 'a', timeout_ms: '${vars.t}' } }] },
      { steps: [{ type_text: ['a', 4242] }, { type_text: { selector: 'a', text: true } }] },
      { steps: [{ select_option: ['a', [42]] }, { set_cookie: { name: 'a', value: 1 } }] },
      {
        steps: [
          { crawl: { url: 'http://x', include_paths: ['/a'] } },
          'get_title',
          { commands: [{ command: 'get_title' }] },
        ],
      },
      { steps: [{ 'navigate-to': 'http://x' }, 'get-title', { command: 'get-title' }] },
      { steps: [{ commands: [{ command: 'get-title' }] }, { 'browser-step': { command: 'get-title' } }] },
    ]
    for (const script of right) expect(validate(script), JSON.stringify(script)).toBe(true)
  })

  const refused: [argv: string[], message: string][] = [
    [[], 'no script was given'],
    [['nope.yaml'], 'script not found: nope.yaml'],
    [['/dev/null'], 'cannot run /dev/null: it is not a file, a folder or a pipe'],
    [['nope/*.yaml'], 'no file matches "nope/*.yaml"'],
    [['.'], 'no YAML files in .'],
    [['a.yml.txt', '--shard', '3/2'], '--shard must be i/n with i from 1 to n, not "3/2"'],
    [['a.yml.txt', '--parallel', '0'], '--parallel must be a whole number from 1 to 1000, not "0"'],
    [['a.yml.txt', '--retries', 'x'], '--retries must be a whole number from 0 to 1000, not "x"'],
    [['a.yml.txt', '--var', 'x'], '--var must be name=value, not "x"'],
    [['a.yml.txt', '--reporter', 'junitt'], 'unknown reporter "junitt" (did you mean "junit"?)'],
    [['a.yml.txt', '--reporter', 'json,junit'], 'json and junit cannot both write to stdout'],
    [['a.yml.txt', '--reporter', 'json=a.yml.txt/x.json'], 'cannot write'],
  ]
  test.each(refused)('%j is refused: %s', async (argv, message) => {
    await given.folder.write('a.yml.txt', 'steps: [get_title]\n')
    const { code, stdout, stderr } = await run(argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(`error: ${message}`)
  })

  test('several reporters write at once, with the lines for humans on stderr', async () => {
    await given.folder.write('a.yaml', passing)
    const { stdout, stderr } = await run(['a.yaml', '--reporter', 'ndjson', '--reporter', 'line,junit=r/a.xml'])
    const types = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type: string }).type)
    expect(types).toEqual([
      'run.started',
      'script.started',
      'step.started',
      'step.finished',
      'script.finished',
      'run.finished',
    ])
    expect(stderr).toContain('✓ 1 get_title')
    expect(await given.folder.read('r/a.xml')).toContain('<testcase classname="a.yaml" name="1 get_title"')
  })

  test('--json selects the JSON reporter', async () => {
    await given.folder.write('a.yaml', passing)
    expect(JSON.parse((await run(['a.yaml', '--json'])).stdout)).toMatchObject({
      success: true,
      totals: { steps: { passed: 1 } },
    })
  })
})

describe('report files', () => {
  const failing = `${page('x')}steps: [{get_text: h1}]\n`.replace(
    'get_text: h1',
    'get_text: {selector: h1, timeout_ms: 0}',
  )

  test('are named at the end', async () => {
    await given.folder.write('a.yaml', passing)
    const { stdout } = await run(['a.yaml', '--reporter', 'line,junit=r/a.xml,html=r/a.html'])
    expect(stdout).toMatch(/1 passed \(.*\)\njunit report: r\/a\.xml\nhtml report: r\/a\.html\n$/)
  })

  test('are links on a terminal, like the evidence of failures', async () => {
    await given.folder.write('a.yaml', failing)
    const argv = ['a.yaml', '--reporter', 'line,html=my report.html', '--artifacts', 'evidence']
    const { stdout } = await run(argv, { tty: true })
    const link = (file: string) =>
      `\u001B]8;;${pathToFileURL(join(given.folder.path, file)).href}\u001B\\${file}\u001B]8;;\u001B\\`
    expect(stdout).toContain(link('my report.html'))
    expect(stdout).toContain('/my%20report.html')
    expect(stdout).toContain(link('evidence/a/page.html'))
    for (const options of [{}, { tty: true, env: { NO_COLOR: '1' } }]) {
      const plain = await run(argv, options)
      expect(plain.stdout).toContain('html report: my report.html\n')
      expect(plain.stdout).not.toContain('\u001B]8')
    }
  })

  test.skipIf(!existsSync('/dev/full'))('on a full disk fail the run with no_space', async () => {
    await given.folder.write('a.yaml', passing)
    const { code, stdout, stderr } = await run(['a.yaml', '--reporter', 'junit=/dev/full', '--json'])
    expect(code).toBe(7)
    expect(stderr).toContain(
      'error: cannot write /dev/full: no space left on the device\nhint: free some space and repeat the command',
    )
    expect(JSON.parse(stdout)).toMatchObject({ success: false, code: 'no_space' })
  })
})

describe('on a terminal', () => {
  const script = `${page('x')}steps:\n  - evaluate: new Promise((done) => setTimeout(done, 400))\n`

  test('shows the running step with its time, in colour', async () => {
    await given.folder.write('a.yaml', script)
    const { stdout } = await run(['a.yaml'], { tty: true, columns: 60 })
    expect(stdout).toMatch(/\r\u001B\[2K {2}\S 1 evaluate new Promise\(.*… ?|\r\u001B\[2K {2}\S 1 evaluate .* \d+ ms/)
    expect(stdout).toContain('\u001B[32m✓\u001B[39m 1 evaluate')
    for (const drawn of stdout.split('\r\u001B[2K').slice(1))
      expect(drawn.split('\n', 1)[0]!.replaceAll(/\u001B\[[\d;]*m/g, '').length < 60 || drawn.includes('\n')).toBe(true)
  })

  test('NO_COLOR disables colours', async () => {
    await given.folder.write('a.yaml', script)
    const { stdout } = await run(['a.yaml'], { tty: true, columns: 60, env: { NO_COLOR: '1' } })
    expect(stdout).not.toMatch(/\u001B\[\d\dm/)
  })
})
