import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { open } from '../support/session-steps.ts'
import { serveSite, type Site } from '../support/site.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

let homes: Homes
let site: Site
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bax-cli-'))
  ;[homes, site] = await Promise.all([
    openHomes(),
    serveSite({
      '/': `<!doctype html><title>Shop</title><h1>Tea</h1><a href=/next>Next</a><button onclick="alert('Sure?')">Buy</button><p id=note>Green and black</p>`,
      '/next': '<!doctype html><title>Next</title><h1>Next</h1><a href=/>Back</a>',
    }),
  ])
})
afterAll(async () => {
  await homes.close()
  await site.close()
  await rm(folder, { recursive: true, force: true })
})

describe.each(['unix', 'http'] as const)('%s', (home) => {
  const server = () => (home === 'http' ? homes.baseUrl : `unix:${join(homes.stateDir, 'test.sock')}`)
  const run = (...argv: string[]) =>
    bax([...argv, '--server', server()], { cwd: folder, env: { BAX_STATE_DIR: folder } })
  const created = async () => {
    const { session_id: id } = await homes.clients[home].createSession({ headless: true })
    await open(homes.clients[home], id!, site.url)
    return id!
  }
  const closed = (id: string) => homes.clients[home].closeSession({ session_id: id })

  test('observe prints the page as stable text', async () => {
    const id = await created()
    const { stdout, stderr, code } = await run('observe', '-s', id)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toBe(`url: ${site.url}/
title: Shop

- heading "Tea" [level=1]
- link "Next" [ref=e2]
- button "Buy" [ref=e3]
- text: Green and black
`)
    expect((await run('observe', '-s', id)).stdout).toBe(stdout)
    await closed(id)
  })

  test('observe --json prints the answer; --include and -o save a screenshot', async () => {
    const id = await created()
    const json = await run('observe', '-s', id, '--json', '--include', 'elements')
    expect(JSON.parse(json.stdout)).toMatchObject({
      session_id: id,
      elements: [{ name: 'Tea' }, { name: 'Next' }, { name: 'Buy' }, { role: 'paragraph' }],
    })
    const only = await run('observe', '-s', id, '--json', '-i', '--include', 'elements')
    expect(JSON.parse(only.stdout)).toMatchObject({ elements: [{ name: 'Next' }, { name: 'Buy' }] })
    expect((await run('observe', '-s', id, '--no-interactive-only')).stdout).toContain('- text: Green and black\n')
    const file = join(folder, `${home}.png`)
    const { stdout } = await run('observe', '-s', id, '--include', 'text,screenshot', '-o', file)
    expect(stdout).toMatch(/^url: .*\ntitle: Shop\n\nTea\nNextBuy\n+Green and black\n\nscreenshot: \w+\.png\n$/)
    expect((await readFile(file)).subarray(1, 4).toString()).toBe('PNG')
    await closed(id)
  })

  test('observe exits 1 for a missing element, and uses the default session if none is named', async () => {
    const id = await created()
    expect(await run('observe', '-s', id, '--selector', '#nothing')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: no element matches #nothing\n',
    })
    expect(await run('observe')).toMatchObject({ code: 0, stdout: expect.stringContaining('url: about:blank') })
    await closed('default')
    await closed(id)
  })

  test('step takes the arguments of do and prints their effect', async () => {
    const id = await created()
    const { stdout, code } = await run(
      'step',
      '-s',
      id,
      'get-title',
      'then',
      'click',
      'text=Buy',
      'then',
      'click',
      'text=Next',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^Shop\nchanged: URL, title, 1 control added, 2 controls removed\ndialog: alert "Sure\?" accepted\nno earlier observation to compare with; the whole page:\nurl: .*\/next\ntitle: Next\n\n- heading "Next" \[level=1\]\n- link "Back" \[ref=e\d+\]\n$/,
    )
    const ref = /ref=(e\d+)/.exec(stdout)![1]!
    const back = await run('step', '-s', id, '--no-observe', 'click', `ref=${ref}`)
    expect(back.stdout).toBe('changed: URL, title\n')
    const failed = await run('step', '-s', id, 'click', `ref=${ref}`)
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('[stale_ref]') })
    expect(failed.stdout).toContain('- heading "Tea"')
    await closed(id)
  })

  test('step prints only changes; --no-diff and --json print the whole page', async () => {
    const id = await created()
    await run('observe', '-s', id)
    const script =
      "document.querySelector('#note').textContent = 'Green and white'; document.querySelector('a').focus()"
    const changed = await run('step', '-s', id, 'evaluate', `void (() => { ${script} })()`)
    expect(changed.stdout).toBe(`undefined
changed: 1 text changed
  "Green and black" -> "Green and white" ("Tea")
focus: link "Next" [ref=e2]
`)
    expect((await run('step', '-s', id, 'get-title')).stdout).toBe('Shop\nchanged: nothing\n')
    expect((await run('observe', '-s', id, '--diff')).stdout).toBe('changed: nothing\n')
    expect((await run('step', '-s', id, '--no-diff', 'get-title')).stdout).toContain('- heading "Tea" [level=1]')
    const json = JSON.parse((await run('step', '-s', id, '--json', 'get-title')).stdout) as { observation: object }
    expect(json.observation).toHaveProperty('snapshot')
    const withoutObservation = await run('step', '-s', id, '--no-observe', 'get-title')
    expect(withoutObservation.stdout).toBe('Shop\nchanged: neither URL nor title; the page was not observed\n')
    const short = await run('observe', '-s', id, '--limit', '1', '--include', 'elements')
    expect(short.stdout).toContain('3 elements omitted; use --limit')
    await closed(id)
  })

  test('watch prints events as text until the session ends', async () => {
    const id = await created()
    const watching = run('session', 'watch', '-s', id, '--replay', 'all', '--types', 'page.navigated,command.finished')
    await homes.clients[home].runCommands({
      session_id: id,
      commands: [{ command: 'click', data: { selector: '#no' } }],
      timeout_ms: 700,
    })
    await closed(id)
    const { code, stdout, stderr } = await watching
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.trim().split('\n')
    for (const line of lines) expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}\S+ +\S/)
    expect(lines.map((line) => line.slice(14))).toEqual([
      `page.navigated     tab_1 ${site.url}/`,
      expect.stringMatching(/^command\.finished {3}navigate_to \d+ ms$/),
      expect.stringMatching(/^command\.finished {3}click failed: .*\[timeout\]$/),
      'session.closed     reason=deleted',
    ])
    expect(await run('session', 'watch', '-s', id)).toMatchObject({ code: 0, stdout: '' })
  })

  test('watch --json prints one JSON event per line', async () => {
    const id = await created()
    let end: Promise<unknown> | undefined
    const watching = bax(['session', 'watch', '-s', id, '--since', '0', '--ndjson', '--server', server()], {
      cwd: folder,
      env: { BAX_STATE_DIR: folder },
      onOutput: () => (end ??= closed(id)),
    })
    const events = (await watching).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { seq: number; type: string })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
    expect(events.at(-1)!.type).toBe('session.closed')
  })

  test('watch exits with 130 after ^C, and reports an unknown session', async () => {
    const id = await created()
    const stop = new AbortController()
    let printed = 0
    const watching = bax(['session', 'watch', '-s', id, '--replay', 'all', '--server', server()], {
      cwd: folder,
      env: { BAX_STATE_DIR: folder },
      signal: stop.signal,
      onOutput: () => {
        printed += 1
        stop.abort('SIGINT')
      },
    })
    expect((await watching).code).toBe(130)
    expect(printed).toBeGreaterThan(0)
    expect(await run('session', 'watch', '-s', 'ses_nobody')).toMatchObject({ code: 5 })
    await closed(id)
  })
})

test('watch reconnects without missing events', async () => {
  const wire = await startTcpProxy(Number(new URL(homes.baseUrl).port))
  const { session_id: id } = await homes.clients.http.createSession({ headless: true })
  const seen: number[] = []
  let interruptions = 0
  const watching = bax(['session', 'watch', '-s', id!, '--since', '0', '--json', '--server', wire.url], {
    cwd: folder,
    env: { BAX_STATE_DIR: folder },
    onOutput: (text) => {
      for (const line of text.trim().split('\n')) seen.push((JSON.parse(line) as { seq: number }).seq)
      if (seen.length > (interruptions + 1) * 10 && interruptions < 3 && wire.interrupt()) interruptions += 1
    },
  })
  // A fast machine opens many pages until the client has reconnected.
  for (let count = 0; count < 30 || (interruptions < 3 && count < 500); count++)
    await open(homes.clients.http, id!, `${site.url}/next`)
  await homes.clients.http.closeSession({ session_id: id! })
  const { code, stderr } = await watching
  expect(code).toBe(0)
  expect(interruptions).toBe(3)
  expect(stderr).toBe('connection lost; reconnecting\n'.repeat(3))
  expect(seen).toEqual(seen.map((_, at) => at + 1))
  expect(seen.length).toBeGreaterThan(100)
  await wire.close()
})
