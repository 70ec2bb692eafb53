import { Ajv2020 } from 'ajv/dist/2020.js'
import { parse as parseYaml } from 'yaml'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
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

  test('--schema prints a JSON Schema that accepts valid and refuses invalid scripts', async () => {
    const { code, stdout } = await given.folder.run(['--schema'])
    expect(code).toBe(0)
    const validate = new Ajv2020({ strict: false, logger: false }).compile(JSON.parse(stdout) as object)
    const fixtures = ['login.yaml', 'shop.yaml'].map((name) =>
      fileURLToPath(new URL(`../fixtures/scripts/${name}`, import.meta.url)),
    )
    for (const file of fixtures) expect(validate(parseYaml(await readFile(file, 'utf8'))), file).toBe(true)
    expect(validate({ commands: [{ command: 'click', data: { selector: 'a' } }] })).toBe(true)
    const wrong = [
      { steps: [{ clik: 'a' }] },
      { steps: [{ type_text: { selector: 'a' } }] },
      { steps: [{ click: 'a', hover: 'b' }] },
      { steps: [{ click: 'a', timeout: 1 }] },
      { steps: ['click'] },
      { steps: [{ wait_for_element: { selector: 'a', timeout_ms: 'soon' } }] },
      { steps: [], sesion: {} },
      { steps: [{ get_title: null, expect: { equls: 1 } }] },
    ]
    for (const script of wrong) expect(validate(script), JSON.stringify(script)).toBe(false)
    expect(validate({ steps: [{ wait_for_element: { selector: 'a', timeout_ms: '${vars.t}' } }] })).toBe(true)
  })

  const refused: [argv: string[], message: string][] = [
    [[], 'no script was given'],
    [['nope.yaml'], 'script not found: nope.yaml'],
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

describe('on a terminal', () => {
  const script = `${page('x')}steps:\n  - evaluate: new Promise((done) => setTimeout(done, 400))\n`

  test('shows the running step with its time, in colour', async () => {
    await given.folder.write('a.yaml', script)
    const { stdout } = await run(['a.yaml'], { tty: true, columns: 60 })
    expect(stdout).toMatch(/\r\u001B\[2K {2}\S 1 evaluate new Promise\(.*… ?|\r\u001B\[2K {2}\S 1 evaluate .* \d+ ms/)
    expect(stdout).toContain('\u001B[32m✓\u001B[39m 1 evaluate')
    for (const drawn of stdout.split('\r\u001B[2K').slice(1)) expect(drawn.split('\n', 1)[0]!.replaceAll(/\u001B\[[\d;]*m/g, '').length < 60 || drawn.includes('\n')).toBe(true) // prettier-ignore
  })

  test('NO_COLOR disables colours', async () => {
    await given.folder.write('a.yaml', script)
    const { stdout } = await run(['a.yaml'], { tty: true, columns: 60, env: { NO_COLOR: '1' } })
    expect(stdout).not.toMatch(/\u001B\[\d\dm/)
  })
})
