import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { type Element, isTag } from 'domhandler'
import { parseDocument } from 'htmlparser2'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { CliOptions } from '../support/cli.ts'
import { type ScriptFolder, scriptFolder } from '../support/scripts.ts'
import { serveShop, type Shop, shopUser } from '../support/shop.ts'

const fixtures = fileURLToPath(new URL('../fixtures/scripts', import.meta.url))
const env = { SHOP_PASSWORD: shopUser.password }
let shop: Shop
let folder: ScriptFolder

beforeAll(async () => {
  ;[shop, folder] = await Promise.all([serveShop(), scriptFolder()])
})
afterAll(() => Promise.all([shop.close(), folder.close()]))

/** Runs one script, and returns its JSON report. */
async function report(text: string, argv: readonly string[] = [], options: CliOptions = {}) {
  await folder.write('script.yaml', text)
  const { code, stdout, stderr } = await folder.run(['script.yaml', '--reporter', 'json', ...argv], options)
  if (code === 2) throw new Error(stderr)
  const run = JSON.parse(stdout) as Run
  return { code, stderr, run, script: run.scripts[0]!, steps: run.scripts[0]!.steps }
}

interface Run {
  success: boolean
  scripts: {
    status: string
    error?: string
    code?: string
    session_id?: string
    notes: string[]
    steps: Step[]
    artifacts: string[]
  }[]
}
interface Step {
  number: string
  name: string
  phase: string
  status: string
  tries: number
  error?: string
  code?: string
  expected?: unknown
  actual?: unknown
  note?: string
  value?: unknown
}

/** Formats steps as `number status`. */
const outcome = (steps: readonly Step[]) => steps.map(({ number, status }) => `${number} ${status}`)
/** Returns a session with a page from HTML, for scripts without a site. */
const blank = (html: string) => `session: {start_url: ${JSON.stringify(`data:text/html,${html}`)}}\n`

describe('a real application', () => {
  test('passes a script of thirty steps, with a JUnit file', async () => {
    const junit = join(folder.path, 'report.xml')
    const argv = ['shop.yaml', '--reporter', `line,junit=${junit}`, '--var', `base=${shop.url}`]
    const { code, stdout } = await folder.run(argv, { cwd: fixtures, env })
    expect(stdout).toMatch(/^Order a toaster shop\.yaml, 30 steps\n/)
    expect(stdout).toMatch(/\n {2}✓ 1\.3 type_text #password \([\d.]+ m?s\)\n/)
    expect(stdout).toMatch(/\n {2}- 17 never runs when: \$\{products\.length\} == 0\n/)
    expect(stdout).toMatch(
      /\n {2}✓ finally 2 Empty the cart of Order 1 \([\d.]+ m?s\) dismissed confirm "Empty the cart\?"; /,
    )
    expect(stdout).toMatch(
      /\n1 script: 1 passed; 30 steps: 29 passed, 1 skipped \([\d.]+ s\)\njunit report: \S+report\.xml\n$/,
    )
    expect(code).toBe(0)
    expect(shop.orders).toEqual([{ items: '2', ship: 'fast', gift: 'on', note: 'For Kettle' }])

    const xml = await readFile(junit, 'utf8')
    const suites = parseDocument(xml, { xmlMode: true }).children.find(isTag) as Element
    expect(suites.attribs).toMatchObject({ name: 'bax run', tests: '30', failures: '0', errors: '0', skipped: '1' })
    const suite = suites.children.find(isTag)
    expect(suite!.attribs).toMatchObject({ name: 'Order a toaster', tests: '30', skipped: '1', file: 'shop.yaml' })
    const cases = suite!.children.filter(isTag)
    expect(new Set(cases.map(({ attribs }) => attribs['name'])).size).toBe(30)
    expect(cases[0]!.attribs).toMatchObject({
      classname: 'shop.yaml',
      name: '1.1 navigate_to ${vars.base}/login',
      file: 'login.yaml',
      line: '8',
    })
    expect(cases.every(({ attribs }) => /^\d+\.\d{3}$/.test(attribs['time']!))).toBe(true)
  })
})

describe('steps', () => {
  test('stop at the first failure with its position, and run finally', async () => {
    const { code, steps } = await report(`${blank('<h1>Hi</h1>')}steps:
  - get_text: h1
    expect: {equals: Welcome}
  - get_title
finally:
  - get_text: h1
  - click: '#nope'
    timeout_ms: 200
  - get_title
`)
    expect(code).toBe(1)
    expect(outcome(steps)).toEqual([
      '1 failed',
      '2 skipped',
      'finally 1 passed',
      'finally 2 failed',
      'finally 3 passed',
    ])
    expect(steps[0]).toMatchObject({
      error: 'expected the result to equal "Welcome", but it is "Hi"',
      code: 'expectation_failed',
      expected: 'Welcome',
      actual: 'Hi',
      file: 'script.yaml',
      line: 3,
      column: 5,
    })
    expect(steps[1]).toMatchObject({ note: 'not run: an earlier step failed' })
    expect(steps[3]).toMatchObject({ error: 'no element matches #nope', code: 'element_not_found' })
  })

  test('steps without a name are called by their first field, or else by a text', async () => {
    const script = `${blank('<p>a</p>')}steps:\n  - get_text: p\n  - wait_for: {text: a}\n  - get_title\n`
    const { steps } = await report(script)
    expect(steps.map(({ name }) => name)).toEqual(['get_text p', 'wait_for text: a', 'get_title'])
  })

  test('steps note dialogs that were dismissed, several matches, and downloads', async () => {
    const page = `<button onclick="document.title = confirm('Sure?')">Ask</button><p>a</p><p>b</p><a download="a.txt" href="data:,hello">Get</a>`
    const script = `${blank(page)}steps:\n  - click: button\n  - get_title:\n    expect: {equals: "false"}\n  - answer_dialog: true\n  - click: button\n  - get_text: p\n  - click: text=Get\n`
    const { steps } = await report(script)
    expect(steps.map(({ status, note }) => [status, note])).toEqual([
      ['passed', 'dismissed confirm "Sure?"; add the step "answer_dialog: true" before this one to accept it'],
      ['passed', undefined],
      ['passed', undefined],
      ['passed', undefined],
      ['passed', 'p matches 2 elements: the first visible one is used'],
      ['passed', 'downloaded a.txt (5 bytes)'],
    ])
  })

  test('with continue_on_error let later steps run, but the script still fails', async () => {
    const { code, steps } = await report(`${blank('x')}steps:
  - evaluate: nope()
    continue_on_error: true
  - get_title
`)
    expect(code).toBe(1)
    expect(outcome(steps)).toEqual(['1 failed', '2 passed'])
    expect(steps[0]).toMatchObject({ code: 'evaluate_failed' })
  })

  test('are retried as often as they declare', async () => {
    const { code, steps } = await report(`${blank('<script>setTimeout(()=>document.title=1,300)</script>')}steps:
  - evaluate: (window.n = (window.n || 0) + 1)
    retry: {count: 5, delay_ms: 10}
    expect: {equals: 3}
  - evaluate: window.n
    retry: 2
    expect: {equals: 9}
`)
    expect(code).toBe(1)
    expect(steps.map(({ tries }) => tries)).toEqual([3, 3])
  })

  test('time out after timeout_ms', async () => {
    const { steps } = await report(`${blank('x')}steps:
  - evaluate: new Promise(() => {})
    timeout_ms: 300
    continue_on_error: true
  - session_list:
    timeout_ms: 60000
`)
    expect(outcome(steps)).toEqual(['1 failed', '2 passed'])
    expect(steps[0]).toMatchObject({ code: 'timeout' })
  })

  test('run for each item, and save a list', async () => {
    const { steps } = await report(`${blank('x')}steps:
  - evaluate: \${item} * 2
    for_each: [1, 2, 3]
    save: doubled
  - evaluate: "'\${doubled}'"
  - evaluate: "'\${row.name}'"
    for_each: [{name: a}, {name: b}]
    as: row
    when: \${row.name} != a
    name: Row \${row.name}
  - get_title:
    for_each: []
`)
    expect(steps.map(({ number, name, status, value }) => [number, name, status, value])).toEqual([
      ['1', 'evaluate ${item} * 2', 'passed', 2],
      ['1', 'evaluate ${item} * 2', 'passed', 4],
      ['1', 'evaluate ${item} * 2', 'passed', 6],
      ['2', "evaluate '${doubled}'", 'passed', '[2,4,6]'],
      ['3', 'Row a', 'skipped', undefined],
      ['3', 'Row b', 'passed', 'b'],
      ['4', 'get_title', 'skipped', undefined],
    ])
  })

  test('fail when a reference has no value', async () => {
    const { steps } = await report(`${blank('x')}steps:
  - evaluate: '({name: 1})'
    save: user
  - evaluate: \${user.nme}
    continue_on_error: true
  - get_title:
    for_each: \${user.name}
    continue_on_error: true
  - get_title:
    when: false
    save: never
  - evaluate: \${never}
`)
    expect(steps.map(({ error, code }) => error && [error, code])).toEqual([
      undefined,
      ['${user.nme}: user has no "nme" (did you mean "name"?)', 'undefined_reference'],
      ['for_each must be a list, not 1', 'undefined_reference'],
      undefined,
      ['${never} has no value: the step that saves it did not run or failed', 'undefined_reference'],
    ])
  })

  test('can be any operation, with the session of the script as default', async () => {
    const { code, steps, script } = await report(`${blank('<title>T</title>')}steps:
  - session_show:
    save: me
    expect: [{path: title, equals: T}, {path: status, equals: ready}]
  - session_list:
    expect: {path: sessions, contains: {session_id: "\${session.id}"}}
  - profile_save: from-script
    expect: {path: name, equals: from-script}
  - session_show: nobody
`)
    expect(outcome(steps)).toEqual(['1 passed', '2 passed', '3 passed', '4 failed'])
    expect(steps[3]).toMatchObject({ code: 'session_not_found' })
    expect((steps[0]!.value as { session_id: string }).session_id).toBe(script.session_id)
    expect(code).toBe(1)
  })

  test('note the warnings of operations', async () => {
    const { steps } = await report(`steps:
  - {command: scrape, data: {url: "${shop.url}/missing", formats: [markdown]}}
  - {command: scrape, data: {url: "${shop.url}", formats: [markdown]}}
`)
    expect(steps[0]).toMatchObject({ status: 'passed', note: 'warning: the page answered 404 Not Found' })
    expect(steps[1]).not.toHaveProperty('note')
  })

  test('report runtime errors with the field names of the script', async () => {
    const { steps } = await report(`${blank('x')}steps:
  - evaluate: '[]'
    save: list
  - wait_for_element: {selector: body, timeout_ms: "\${list}"}
`)
    expect(steps[1]).toMatchObject({ error: 'timeout_ms must be a number', code: 'invalid_request' })
  })

  test('of an included file run in its place, with their own finally', async () => {
    await folder.write(
      'parts/part.yaml',
      'vars: {word: own}\nsteps:\n  - evaluate: "\'${vars.word}\'"\n    save: said\n  - evaluate: nope()\nfinally:\n  - get_title\n',
    )
    const { steps } = await report(`${blank('x')}steps:
  - include: parts/part.yaml
    vars: {word: given}
    for_each: [1, 2]
    continue_on_error: true
  - evaluate: "'\${said}'"
  - include: parts/part.yaml
    name: Other
    when: "\${said} == other"
  - include: parts/part.yaml
    name: Once more
`)
    const round = ['1.1 passed', '1.2 failed', '1.finally 1 passed']
    const last = ['4.1 passed', '4.2 failed', '4.finally 1 passed']
    expect(outcome(steps)).toEqual([...round, ...round, '2 passed', '3 skipped', ...last])
    expect(steps[6]).toMatchObject({ value: 'given' })
    expect(steps.at(-1)).toMatchObject({ name: 'Once more: get_title' })
  })
})

describe('screenshots', () => {
  const script = `session: {start_url: '\${vars.page}', viewport: {width: 200, height: 100}}
vars: {page: 'data:text/html,<body bgcolor=red>'}
steps:
  - get_title:
    expect: {screenshot: {path: shots/home.png, max_diff_pixels: 10}}
`
  test('are stored in the first run and compared later, with differences in the artifacts', async () => {
    const first = await report(script)
    expect(first.steps[0]).toMatchObject({ status: 'passed', note: 'wrote shots/home.png' })
    expect((await report(script)).steps[0]).not.toHaveProperty('note')

    const {
      code,
      steps,
      script: failed,
    } = await report(script, ['--var', 'page=data:text/html,<body bgcolor=blue>', '--artifacts', 'kept'])
    expect(code).toBe(1)
    expect(steps[0]!.error).toBe(
      'the page differs from shots/home.png: 20000 of 20000 pixels differ (100.00 %), 10 allowed',
    )
    expect(failed.artifacts).toEqual(
      expect.arrayContaining(['expected', 'actual', 'diff'].map((kind) => `kept/script/1-home-${kind}.png`)),
    )
    expect(await folder.bytes('kept/script/1-home-expected.png')).toEqual(await folder.bytes('shots/home.png'))
  })

  test('are not stored in CI without --update-snapshots', async () => {
    const other = script.replace('shots/home', 'shots/other')
    const { steps } = await report(other, [], { env: { CI: 'true' } })
    expect(steps[0]!.error).toBe('no stored screenshot shots/other.png: create it with --update-snapshots')
    expect((await report(other, ['--update-snapshots'], { env: { CI: 'true' } })).code).toBe(0)
  })

  test('with a path in the step are written relative to the working folder', async () => {
    const { steps } = await report(`${blank('x')}steps:\n  - screenshot: {path: out/page.png}\n`)
    expect(steps[0]!.value).toEqual({ screenshot: '(screenshot)', path: join(folder.path, 'out/page.png') })
    expect((await folder.bytes('out/page.png')).subarray(1, 4).toString()).toBe('PNG')
  })
})

describe('a plain body', () => {
  const body = {
    commands: [{ command: 'navigate_to', data: { url: 'data:text/html,<title>Hi' } }, { command: 'get_title' }],
  }

  test('is sent unchanged, and prints like bax do', async () => {
    await folder.write('body.json', JSON.stringify(body))
    await folder.write('body.yaml', 'commands:\n  - {command: evaluate, data: {expression: 6 * 7}}\n')
    expect(await folder.run(['body.json'])).toMatchObject({ code: 0, stdout: 'Hi\n' })
    expect(await folder.run(['body.yaml'])).toMatchObject({ code: 0, stdout: '42\n' })
  })

  test('that fails exits with 1 and reports why', async () => {
    await folder.write(
      'body.json',
      JSON.stringify({ commands: [{ command: 'evaluate', data: { expression: 'nope()' } }] }),
    )
    const { code, stderr } = await folder.run(['body.json'])
    expect(code).toBe(1)
    expect(stderr).toContain('nope is not defined')
  })

  test('can be reported like a script', async () => {
    await folder.write('body.json', JSON.stringify(body))
    const { stdout } = await folder.run(['body.json', '--reporter', 'json'])
    const [script] = (JSON.parse(stdout) as Run).scripts
    expect(outcome(script!.steps)).toEqual(['1 passed', '2 passed'])
    expect(script!.steps[1]).toMatchObject({ name: 'get_title', value: 'Hi', line: 1 })
  })
})
