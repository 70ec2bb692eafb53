import { describe, expect, test } from 'vitest'
import { scriptsOnServer } from '../support/scripts.ts'
import { serveSite } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const given = scriptsOnServer()
const { run, page, passing } = given
const failing = `${page('x')}steps: [{evaluate: nope()}]\n`
const live = async () => (await given.homes.clients.http.listSessions()).sessions.length

describe('the session of a script', () => {
  test('is closed at its end, also after a failure', async () => {
    await given.folder.write('a.yaml', failing)
    await run(['a.yaml'])
    expect(await live()).toBe(0)
  })

  test('of a plain body is closed at its end', async () => {
    await given.folder.write('body.json', '{"commands":[{"command":"get_title"}]}')
    expect(await run(['body.json'])).toMatchObject({ code: 0 })
    expect(await live()).toBe(0)
  })

  test('stays open with keep, and can be used by name', async () => {
    await given.folder.write(
      'make.yaml',
      `session: {requested_name: kept, start_url: 'data:text/html,<title>Kept', keep: true}\nsteps: [get_title]\n`,
    )
    await given.folder.write('use.yaml', 'session: kept\nsteps:\n  - get_title:\n    expect: {equals: Kept}\n')
    expect((await run(['make.yaml'])).code).toBe(0)
    expect((await run(['use.yaml'])).code).toBe(0)
    expect(await live()).toBe(1)
    await given.homes.clients.http.closeSession({ session_id: 'kept' })
  })

  test('is created from a profile by name', async () => {
    const site = await serveSite({ '/': '<title>Home</title>' })
    await given.folder.write(
      'save.yaml',
      `session: {start_url: "${site.url}"}\nsteps:\n  - set_local_storage: [{key: who, value: ann}]\n  - profile_save: shopper\n`,
    )
    await given.folder.write(
      'load.yaml',
      `session: {profile: shopper, start_url: "${site.url}"}\nsteps:\n  - evaluate: localStorage.who\n    expect: {equals: ann}\n`,
    )
    await given.folder.write('miss.yaml', 'session: {profile: shoper}\nsteps: [get_title]\n')
    expect(await run(['save.yaml'])).toMatchObject({ code: 0 })
    expect(await run(['load.yaml'])).toMatchObject({ code: 0 })
    expect((await run(['miss.yaml'])).stdout).toContain('no profile is named "shoper" (did you mean "shopper"?)')
    await site.close()
  })
})

describe('several scripts', () => {
  const statuses = (text: string) =>
    (JSON.parse(text) as { scripts: { file: string; status: string }[] }).scripts.map(
      ({ file, status }) => `${file} ${status}`,
    )

  test('are found by folder and glob, and run in parallel with a session each', async () => {
    const gate = await serveSite({
      '/': '<title>Gate</title>',
      '/count': (_, response) => response.end(String(gate.requests.filter((path) => path === '/').length)),
    })
    const script = `session: {start_url: "${gate.url}/"}\nsteps:\n  - evaluate: fetch('/count').then((answer) => answer.text())\n    expect: {equals: '2'}\n    retry: {count: 100, delay_ms: 50}\n`
    await given.folder.write('all/b.yaml', script)
    await given.folder.write('all/deep/a.yml', script)
    await given.folder.write('all/notes.txt', 'no script')
    const { code, stdout } = await run(['all', 'all/**/*.yml', '--parallel', '2', '--reporter', 'json'])
    expect(statuses(stdout)).toEqual(['all/b.yaml passed', 'all/deep/a.yml passed'])
    expect(code).toBe(0)
    await gate.close()
  })

  test('stop after a failure with --fail-fast', async () => {
    await given.folder.write('1.yaml', failing)
    await given.folder.write('2.yaml', passing)
    const { code, stdout } = await run(['*.yaml', '--fail-fast', '--reporter', 'json'])
    expect(statuses(stdout)).toEqual(['1.yaml failed', '2.yaml skipped'])
    expect(code).toBe(1)
  })

  test('are divided by --shard', async () => {
    for (const name of ['1', '2', '3']) await given.folder.write(`${name}.yaml`, passing)
    const parts = await Promise.all(
      ['1/2', '2/2'].map(async (shard) =>
        statuses((await run(['*.yaml', '--shard', shard, '--reporter', 'json'])).stdout),
      ),
    )
    expect(parts).toEqual([['1.yaml passed', '3.yaml passed'], ['2.yaml passed']])
    const none = await run(['1.yaml', '--shard', '2/2'])
    expect(none).toMatchObject({ code: 0, stderr: 'no scripts in this shard\n' })
  })

  test('are retried with --retries, and are flaky when a retry passes', async () => {
    const site = await serveSite({ '/': (_, response) => response.end(`<title>${site.requests.length}</title>`) })
    await given.folder.write(
      'a.yaml',
      `session: {start_url: "${site.url}/"}\nsteps:\n  - get_title:\n    expect: {equals: '2'}\n`,
    )
    const { code, stdout } = await run(['a.yaml', '--retries', '2', '--artifacts', 'kept', '--reporter', 'json'])
    expect(statuses(stdout)).toEqual(['a.yaml flaky'])
    expect(code).toBe(0)
    expect(await given.folder.files('kept')).toContain('kept/a/1-failure.png')
    await site.close()
  })

  test('do not run when one is invalid: exit code 2, all errors, no requests', async () => {
    const site = await serveSite({ '/': 'x' })
    await given.folder.write('good.yaml', `session: {start_url: "${site.url}/"}\nsteps: [get_title]\n`)
    await given.folder.write('bad.yaml', 'steps:\n  - clik: a\n')
    await given.folder.write('worse.yaml', 'steps:\n  - get_text: ${nope}\n')
    const { code, stdout, stderr } = await run(['*.yaml', '--var', 'bse=1'])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toBe(`--var bse: no script has a variable "bse"

bad.yaml:2:5: unknown command "clik" (did you mean "click"?)
  2 |   - clik: a
    |     ^^^^

worse.yaml:2:15: \${nope} is not defined: no earlier step saves "nope" (write $\${ for a literal \${)
  2 |   - get_text: \${nope}
    |               ^^^^^^^

3 errors in 2 files; nothing was run
`)
    expect(site.requests).toEqual([])
    await site.close()
  })
})

test('exits with 3 without an engine', async () => {
  await given.folder.write('a.yaml', passing)
  const { code, stdout } = await given.folder.run(['a.yaml', '--server', 'http://127.0.0.1:9'])
  expect(code).toBe(3)
  expect(stdout).toContain('cannot reach the engine at http://127.0.0.1:9/: nothing is listening there')
})

test('an interrupt stops the step, runs finally, closes the session and exits with 130', async () => {
  const site = await serveSite({ '/': '<title>Home</title>', '/waiting': 'x', '/cleaned': 'x' })
  await given.folder.write(
    'a.yaml',
    `session: {start_url: "${site.url}/"}
steps:
  - evaluate: fetch('/waiting').then(() => new Promise(() => {}))
  - get_title
finally:
  - evaluate: fetch('/cleaned').then((answer) => answer.status)
`,
  )
  const stop = new AbortController()
  const running = run(['a.yaml', '--reporter', 'line,json=run.json'], { signal: stop.signal })
  await waitUntil(() => site.requests.includes('/waiting'))
  stop.abort('SIGINT')
  const { code } = await running
  expect(code).toBe(130)
  expect(site.requests).toContain('/cleaned')
  const { scripts } = JSON.parse(await given.folder.read('run.json')) as {
    scripts: { steps: { status: string; error?: string }[] }[]
  }
  expect(scripts[0]!.steps.map(({ status, error }) => [status, error])).toEqual([
    ['failed', 'interrupted'],
    ['skipped', undefined],
    ['passed', undefined],
  ])
  expect(await live()).toBe(0)
  await site.close()
})
