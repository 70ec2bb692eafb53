/** Tests of a browser that `bax relay connect` has connected to an engine, for the files of both kinds of engines. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Env, RelayCli } from './relay-cli.ts'
import { waitUntil } from './wait.ts'

/** Tests the way from the connection to ^C. `env` returns the variables of the engine. */
export function testDriving(given: RelayCli, env: () => Env): void {
  const { connect, navigateTo, run, titleIs } = given
  test('is listed, shown and driven, and keeps running after ^C', async () => {
    const connector = await connect(env(), '--cdp', given.foreign.url)
    const { stdout: list } = await run(['relay', 'list'], env())
    expect(list).toMatch(
      /^id +name +status +policy +active_target_id\nrly_[\w-]+ +laptop +connected +no-lifecycle +\w+\n$/i,
    )
    expect((await navigateTo(env(), '/')).code).toBe(0)
    await titleIs('Home')
    const tabs = await run(['relay', 'tabs', 'laptop'], env())
    expect(tabs.stdout).toMatch(/^target_id +active +responsive +title +url\n\w+ +true +true /i)

    expect(await run(['do', 'click', 'button', '-s', 'laptop'], env())).toMatchObject({ code: 0 })
    await titleIs('Pressed')
    const observed = await run(['observe', '-s', 'laptop'], env())
    expect(observed).toMatchObject({ code: 0, stdout: expect.stringContaining('Press') })
    const step = ['step', '-s', 'laptop', '--json', 'get-title']
    expect(JSON.parse((await run(step, env())).stdout)).toMatchObject({ success: true })

    await writeFile(
      join(given.folder, 'flow.yaml'),
      'session: {session_id: laptop}\nsteps:\n  - get_title:\n    expect: {equals: Pressed}\n',
    )
    expect(await run(['run', 'flow.yaml'], env())).toMatchObject({ code: 0 })

    connector.child.kill('SIGINT')
    expect(await connector.ended).toMatchObject({ code: 130, stdout: expect.stringMatching(/^rly_[\w-]+\n$/) })
    expect(await given.foreign.titles()).toEqual(['Pressed'])
    expect(JSON.parse((await run(['relay', 'list', '--json'], env())).stdout)).toEqual({ sessions: [] })
  })
}

/** Tests single calls, events, and the states of the connection. */
export function testConnected(given: RelayCli, env: () => Env): void {
  const { cdp, connect, laptop, navigateTo, run, start } = given
  test('runs single calls with params from all sources, fields to files, and exit codes for errors', async () => {
    await connect(env(), '--cdp', given.foreign.url)
    expect(await cdp(env(), 'Runtime.evaluate', '{"expression":"6*7"}', '--field', 'result')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"value": 42'),
    })
    await writeFile(join(given.folder, 'params.json'), '{"expression":"6*8"}')
    expect((await cdp(env(), 'Runtime.evaluate', '@params.json')).stdout).toContain('48')
    const spoken = await run(['cdp', '-s', 'laptop', 'Runtime.evaluate', '-'], env(), '{"expression":"6*9"}')
    expect(spoken.stdout).toContain('54')
    const shot = await cdp(env(), 'Page.captureScreenshot', '--field', 'data', '-o', 'page.png')
    expect(shot).toMatchObject({ code: 0, stdout: '' })
    expect((await readFile(join(given.folder, 'page.png'))).subarray(1, 4).toString()).toBe('PNG')

    expect(await cdp(env(), 'Browser.close')).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('no-lifecycle'),
    })
    expect(await cdp(env(), 'Foo.bar')).toMatchObject({ code: 1, stderr: expect.stringContaining('[cdp_error]') })
    expect(await cdp(env(), 'Runtime.evaluate', '{oops')).toMatchObject({ code: 2 })
    expect(await cdp(env(), 'Browser.getVersion', '--field', 'nope')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it has protocolVersion'),
    })
    expect(await cdp(env(), 'Page.enable', '--target', 'none')).toMatchObject({ code: 5 })
  })

  test('reads, filters, follows, exports and clears events without secrets', async () => {
    await connect(env(), '--cdp', given.foreign.url)
    const events = (...flags: string[]) => run(['relay', 'events', 'laptop', ...flags], env())
    const follower = start(
      ['relay', 'events', 'laptop', '--follow', '--ndjson', '--kind', 'console', '--since', '0'],
      env(),
    )
    let followed = ''
    follower.child.stdout!.on('data', (chunk: Buffer) => (followed += chunk))
    await navigateTo(env(), '/noisy')
    await waitUntil(() => followed.includes('it broke'))
    const finished = ['--kind', 'network', '--type', 'finished', '--url', '**/x?*']
    await waitUntil(async () => (await events(...finished)).stdout !== '')

    expect((await events('--kind', 'console', '--level', 'error', '--text', 'BROKE')).stdout).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}console {2}log +error: it broke Bearer \[redacted\] \(http/,
    )
    const page = JSON.parse((await events('--json', '--limit', '1')).stdout) as { more: boolean; next: number }
    expect(page).toMatchObject({ more: true, next: 1, gap: null })
    expect((await events('--limit', '1')).stderr).toContain('more events: add --since 1')
    const lines = (await events('--ndjson')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number })
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1))

    expect((await events('--har', 'out.har')).stderr).toMatch(/^saved \d+ requests to out\.har\n$/)
    const archive = await readFile(join(given.folder, 'out.har'), 'utf8')
    const { log } = JSON.parse(archive) as { log: { pages: { id: string }[]; entries: { pageref: string }[] } }
    expect(log.pages.map(({ id }) => id)).toEqual([...new Set(log.entries.map(({ pageref }) => pageref))])
    for (const text of [archive, followed, (await events('--ndjson')).stdout]) {
      expect(text).not.toMatch(/s3cret|abcdefghijkl/)
    }

    expect(await events('--kind', 'consle')).toMatchObject({ code: 2, stderr: expect.stringContaining('kind') })
    expect(await events('--follow', '--clear')).toMatchObject({ code: 2 })
    expect(await events('--clear', '--kind', 'console')).toMatchObject({ code: 2 })
    expect(await events('--clear')).toMatchObject({ code: 0, stdout: '' })
    expect((await events('--type', 'finished')).stdout).toBe('')
    follower.child.kill('SIGINT')
    expect((await follower.ended).code).toBe(130)
  })

  test('has the status reconnecting while its connector is dead, and is released by `relay stop`', async () => {
    const connector = await connect(env(), '--cdp', given.foreign.url)
    connector.child.kill('SIGKILL')
    await connector.ended
    await waitUntil(async () => (await laptop(env()))['status'] === 'reconnecting')
    expect(await cdp(env(), 'Browser.getVersion')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('is disconnected'),
    })
    expect(await given.foreign.titles()).toHaveLength(1)
    expect((await run(['relay', 'stop', 'laptop'], env())).code).toBe(0)
    expect((await run(['relay', 'show', 'laptop'], env())).code).toBe(5)

    const again = await connect(env(), '--cdp', given.foreign.url)
    expect((await run(['relay', 'stop', 'laptop'], env())).code).toBe(0)
    expect(await again.ended).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('the engine ended this relay session'),
    })
  })

  test('uses another tab after `relay use`', async () => {
    await connect(env(), '--cdp', given.foreign.url)
    const before = (await laptop(env()))['active_target_id'] as string
    const { stdout } = await cdp(env(), 'Target.createTarget', '{"url":"about:blank"}', '--field', 'targetId')
    await waitUntil(async () => (await laptop(env()))['active_target_id'] === stdout.trim())
    expect((await run(['relay', 'use', 'laptop', before], env())).code).toBe(0)
    await waitUntil(async () => (await laptop(env()))['active_target_id'] === before)
    expect((await run(['relay', 'use', 'laptop', 'none'], env())).code).toBe(5)
    await cdp(env(), 'Target.closeTarget', JSON.stringify({ targetId: stdout.trim() }))
    await waitUntil(async () => (await given.foreign.titles()).length === 1)
  })
}

/** Tests names. */
export function testNames(given: RelayCli, env: () => Env): void {
  const { connect, run } = given
  test('shares its name with no session', async () => {
    await connect(env(), '--cdp', given.foreign.url)
    expect(await run(['session', 'create', '--requested-name', 'laptop'], env())).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('a connected browser is already named "laptop"'),
    })
    expect(await run(['session', 'create', '--requested-name', 'shop'], env())).toMatchObject({ code: 0 })
    expect(await run(['relay', 'connect', '--cdp', given.foreign.url, '--name', 'shop'], env())).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('a live session is already named "shop"'),
    })
    expect(await run(['session', 'close', 'shop'], env())).toMatchObject({ code: 0 })
  })
}
