/** Replays of `bax run`: one file that explains a run to a reader who has nothing else. */
import { pathToFileURL } from 'node:url'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Browser, chromium, type Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { locateBrowser } from '../../src/engine/browser/install/locate.ts'
import { scriptsOnServer } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'
import { waitUntil } from '../support/wait.ts'

const given = scriptsOnServer()
let site: Site
let browser: Browser
let page: Page | undefined
beforeAll(async () => {
  site = await serveSite({
    '/': `<!doctype html><title>Shop</title><h1>Tea</h1><input id=q>
<button id=buy onclick="document.querySelector('h1').textContent = 'Sold out'; console.error('order refused')">Buy</button>`,
  })
  const { path } = await locateBrowser({ headless: true, stealth: false }, { cacheDir: '/nonexistent' })
  browser = await chromium.launch({ executablePath: path, args: ['--no-sandbox'] })
})
afterEach(() => page?.close())
afterAll(async () => {
  await browser?.close()
  await site?.close()
})

const failing = `steps:
  - click: '#buy'
  - name: The order <b>arrives</b>
    get_text: h1
    expect: {equals: Thank you}
  - get_title
`
const start = (more = '') => `session: {start_url: "${site.url}/"${more}}\n`

/** Opens a replay from its file, and fails when it sends requests. */
async function open(name: string): Promise<Page> {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const requests: string[] = []
  page.on('request', (request) => /^https?:/.test(request.url()) && requests.push(request.url()))
  await page.goto(pathToFileURL(join(given.folder.path, name)).href)
  await page.waitForSelector('body[data-ready]')
  expect(requests).toEqual([])
  return page
}

const copiesIn = (html: string): string =>
  gunzipSync(Buffer.from(/id="pages">([^<]*)</.exec(html)![1]!, 'base64')).toString()

describe('--replay', () => {
  test.each([
    ['on a server', (argv: string[]) => given.run(argv)],
    ['in an engine of its own', (argv: string[]) => given.folder.run(argv)],
  ])('of a failing script explains the failure, %s', async (_, run) => {
    await given.folder.write('buy.yaml', start() + failing)
    const { code, stdout } = await run(['buy.yaml', '--replay', 'out/run.html'])
    expect(code).toBe(1)
    expect(stdout).toContain('\n  out/run.html\n')
    const replay = await open('out/run.html')
    const outcome = replay.locator('header .run')
    const text = await outcome.innerText()
    expect(text).toContain('Script buy failed')
    expect(text).toMatch(/2 The order <b>arrives<\/b> buy\.yaml:\d+:\d+\n/)
    expect(text).toMatch(/expected\s+Thank you\s+actual\s+Sold out/)
    await outcome.getByText('Steps of the script (3)').click()
    expect(await outcome.locator('.steps > li').allInnerTexts()).toEqual([
      expect.stringMatching(/^✓ 1 click #buy/),
      expect.stringMatching(/^✗ 2 The order <b>arrives<\/b>/),
      expect.stringMatching(/^– 3 get_title .*\s+not run: an earlier step failed/),
    ])
    // It opens with the command whose expectation failed, although the command succeeded.
    expect(await replay.locator('.step.current h2').innerText()).toMatch(/^2\. get_text h1 passed/)
    expect(await replay.locator('.step.current .head').innerText()).toMatch(
      /The script failed here, in step 2 The order <b>arrives<\/b> buy\.yaml:\d+:\d+\s.*Thank you\s+actual\s+Sold out/s,
    )
    expect(await replay.frameLocator('#screen iframe').locator('h1').innerText()).toBe('Sold out')
    // The error of an earlier command may be the cause.
    expect(await replay.locator('.step.current .earlier').innerText()).toMatch(
      /command 1: click #buy – .*order refused/,
    )
    await replay.getByText('Flagged (1)').click()
    // The commands, the page and its console are those of the session.
    expect(await replay.locator('nav li .what').allInnerTexts()).toEqual(expect.arrayContaining(['click #buy']))
    await replay.click('header a:has-text("command 1")')
    await replay.locator('main', { hasText: 'order refused' }).waitFor()
  })

  test('opens at the last attempt of the failed step, before commands that clean up and collect evidence', async () => {
    await given.folder.write(
      'late.yaml',
      `${start()}steps:
  - get_text: h1
  - get_text: h1
    retry: {count: 1, delay_ms: 1}
    expect: {equals: Coffee}
finally:
  - get_text: h1
  - click: '#buy'
`,
    )
    expect((await given.run(['late.yaml', '--replay', 'run.html', '--artifacts', 'kept'])).code).toBe(1)
    const replay = await open('run.html')
    expect(await replay.locator('.step.current h2').innerText()).toMatch(/^3\. get_text h1 passed/)
    expect(await replay.locator('[data-failed-step]').count()).toBe(1)
  })

  test('of a script that passes is written, too', async () => {
    await given.folder.write('a.yaml', given.passing)
    expect(await given.run(['a.yaml', '--replay', 'run.html'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('\n  run.html\n'),
    })
    const replay = await open('run.html')
    expect(await replay.locator('header .run').innerText()).toContain('Script a passed')
  })

  test('that cannot be saved is noted, and the exit code says so, although the script passes', async () => {
    await given.folder.write('a.yaml', given.passing)
    for (const [file, code] of [
      ['/dev/full', 7],
      ['/proc/none/run.html', 2],
    ] as const)
      expect(await given.run(['a.yaml', '--replay', file])).toMatchObject({
        code,
        stdout: expect.stringContaining(`cannot save the replay: cannot write ${file}`),
      })
  })

  test('of a session whose browser is killed says so, and what ran then', async () => {
    const client = given.homes.clients.http
    await given.folder.write(
      'killed.yaml',
      `${start()}steps:\n  - click: '#buy'\n  - wait_for_element: {selector: '#never', timeout_ms: 120000}\n`,
    )
    const running = given.run(['killed.yaml', '--replay', 'run.html'])
    await waitUntil(async () => {
      const [session] = (await client.listSessions({})).sessions
      if (!session) return false
      const { events } = await client.getSessionLog({ session_id: session.session_id })
      return events.some(({ type, data }) => type === 'command.started' && data['command'] === 'wait_for_element')
    })
    const { browsers } = await client.getEngineStatus({})
    process.kill(browsers.find(({ kind }) => kind === 'headless')!.pid, 'SIGKILL')
    expect((await running).code).toBe(1)
    const replay = await open('run.html')
    const header = await replay.locator('header').innerText()
    expect(header).toMatch(/session \S+ has ended: its browser crashed or was killed worker_lost/)
    expect(header).toMatch(/2 wait_for_element #never killed\.yaml:4:5\n/)
    expect(await replay.locator('.step.current h2').innerText()).toMatch(/wait_for_element #never failed/)
    expect(await replay.frameLocator('#screen iframe').locator('h1').innerText()).toBe('Sold out')
  })

  test('of steps whose secrets are hidden, also in the copies of the page', async () => {
    await given.folder.write(
      'secret.yaml',
      `secrets: [SHOP_WORD]
${start()}steps:
  - fill: ['#q', "\${env.SHOP_WORD}"]
  - evaluate: document.querySelector('h1').textContent = document.querySelector('#q').value
  - click: text=\${env.SHOP_WORD} nowhere
    timeout_ms: 300
`,
    )
    const env = { SHOP_WORD: 'hush-4711-<&>' }
    expect((await given.run(['secret.yaml', '--replay', 'run.html'], { env })).code).toBe(1)
    const html = await given.folder.read('run.html')
    for (const text of [html, copiesIn(html)]) expect(text).not.toContain('hush-4711')
    const replay = await open('run.html')
    expect(await replay.frameLocator('#screen iframe').locator('h1').innerText()).toBe('***')
  })

  test('of several scripts is a folder, with a file for each attempt', async () => {
    await given.folder.write('shop/a.yaml', given.passing)
    await given.folder.write('shop/b.yaml', start() + failing)
    expect(await given.run(['shop', '--replay', 'run.html'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--replay run.html is one file for 2 scripts'),
    })
    expect((await given.run(['shop', '--replay', 'kept/', '--retries', '1'])).code).toBe(1)
    expect(await given.folder.files('kept')).toEqual([
      'kept/shop-a.html',
      'kept/shop-b-retry1.html',
      'kept/shop-b.html',
    ])
  })

  test('of a plain body has its commands', async () => {
    const commands = [
      { command: 'navigate_to', data: { url: `${site.url}/` } },
      { command: 'click', data: { selector: '#no', timeout_ms: 1 } },
    ]
    await given.folder.write('body.json', JSON.stringify({ commands }))
    const ended = await given.run(['body.json', '--replay', 'run.html'])
    expect(ended, ended.stdout + ended.stderr).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('saved run.html\n'),
    })
    const replay = await open('run.html')
    expect(await replay.locator('header .run').innerText()).toContain('no element matches #no')
    expect(await replay.locator('nav li').count()).toBe(2)
    expect((await given.homes.clients.http.listSessions({})).total).toBe(0)
  })

  test('of a session that was not recorded is reported as missing', async () => {
    const { session_id } = await given.homes.clients.http.createSession({ requested_name: 'mine' })
    await given.folder.write('a.yaml', 'session: mine\nsteps: [get_title]\n')
    const { code, stdout } = await given.run(['a.yaml', '--replay', 'run.html'])
    await given.homes.clients.http.closeSession({ session_id: session_id! })
    expect(code).toBe(0)
    expect(stdout).toContain('! cannot save the replay: the session is not recorded for a replay')
    expect(await given.folder.files()).toEqual(['a.yaml'])
  })
})

test('a plain body that cannot be run says why', async () => {
  const commands = [{ command: 'get_title' }]
  await given.folder.write('body.json', JSON.stringify({ session_id: 'nobody', commands }))
  expect(await given.run(['body.json'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('error: body.json: no session has the id or name "nobody"'),
  })
})
