import { strFromU8, unzipSync } from 'fflate'
import { PNG } from 'pngjs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scriptsOnServer } from '../support/scripts.ts'
import { serveShop, type Shop, shopUser } from '../support/shop.ts'
import { serveSite } from '../support/site.ts'

const given = scriptsOnServer()
const { run, passing } = given

describe('a failing script', () => {
  test('saves a screenshot of the failure, the HTML, logs and a trace', async () => {
    const site = await serveSite({
      '/': `<!doctype html><title>Red</title><body style="background:rgb(200,0,0)"><h1>Broken</h1>
<script>console.warn('careful'); fetch('/missing'); setTimeout(() => { throw new Error('late fault') })</script>`,
    })
    await given.folder.write(
      'shop/buy.yaml',
      `session: {start_url: "${site.url}/", viewport: {width: 300, height: 200}}
steps:
  - wait_for_element: h1
  - evaluate: fetch('/missing').then((answer) => answer.status)
  - click: '#buy'
    timeout_ms: 700
`,
    )
    const { code, stdout } = await run(['shop/buy.yaml', '--artifacts', 'kept', '--reporter', 'line,html=report.html'])
    await site.close()
    expect(code).toBe(1)
    const names = ['3-failure.png', 'console-log.txt', 'network-log.txt', 'page.html', 'replay.html', 'trace.zip'].map(
      (name) => `kept/shop-buy/${name}`,
    )
    expect(await given.folder.files('kept')).toEqual(names)
    for (const name of names) expect(stdout).toContain(`\n  ${name}\n`)

    const screenshot = await given.folder.bytes('kept/shop-buy/3-failure.png')
    const { width, height, data } = PNG.sync.read(screenshot)
    expect([width, height, ...data.subarray(-4)]).toEqual([300, 200, 200, 0, 0, 255])
    expect(await given.folder.read('kept/shop-buy/page.html')).toContain('<h1>Broken</h1>')
    const log = await given.folder.read('kept/shop-buy/console-log.txt')
    expect(log).toMatch(/^\S+Z warning careful \(http:.+:2\)$/m)
    expect(log).toMatch(/^\S+Z error late fault$/m)
    expect(await given.folder.read('kept/shop-buy/network-log.txt')).toMatch(
      /^\S+Z 404 GET http:\S+\/missing \(fetch\)$/m,
    )
    const trace = unzipSync(await given.folder.bytes('kept/shop-buy/trace.zip'))
    expect(strFromU8(trace['trace.trace']!)).toContain('"type":"context-options"')

    const html = await given.folder.read('report.html')
    expect(html).toContain(`src="data:image/png;base64,${screenshot.toString('base64')}"`)
    expect(html).toContain('no element matches #buy')
    expect(html).not.toMatch(/<script|(?:src|href)="(?!data:)/)
  })

  test('that passes saves nothing', async () => {
    await given.folder.write('a.yaml', passing)
    expect(await run(['a.yaml', '--artifacts', 'kept'])).toMatchObject({ code: 0 })
    expect(await given.folder.files()).toEqual(['a.yaml'])
  })

  test('without a free session reports why', async () => {
    await given.folder.write('a.yaml', 'session: {session_id: nobody}\nsteps: [get_title]\n')
    const { code, stdout } = await run(['a.yaml', '--reporter', 'junit'])
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /<testcase classname="a.yaml" name="session" time="0" file="a.yaml">\s+<error message="no session has the id or name &quot;nobody&quot;/,
    )
    expect(stdout).toContain('<testsuite name="a" tests="1" failures="0" errors="1"')
  })
})

describe('secrets', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await serveShop()
  })
  afterAll(() => shop.close())

  test('are masked in output, reports, screenshot names, logs and traces, in any encoding', async () => {
    const fixture = fileURLToPath(new URL('../fixtures/scripts/login.yaml', import.meta.url))
    await given.folder.write('login.yaml', await readFile(fixture))
    // The password is part of the name, so that the shop's response contains it; the steps output it in every encoding.
    await given.folder.write(
      'leak.yaml',
      `secrets: [SHOP_PASSWORD, SHOP_WORD]
name: With \${env.SHOP_PASSWORD}
steps:
  - include: login.yaml
    vars: {user: "\${env.SHOP_PASSWORD}"}
    continue_on_error: true
  - navigate_to: \${vars.base}/login?q=\${env.SHOP_PASSWORD}
  - evaluate: console.log(location.href, btoa(unescape(encodeURIComponent(\${vars.quoted}))))
  - get_text: h1
    name: Look for \${env.SHOP_PASSWORD}
    expect: {equals: "\${env.SHOP_PASSWORD}"}
    continue_on_error: true
  - get_title:
    expect: {screenshot: "shots/\${env.SHOP_WORD}.png"}
  - evaluate: JSON.stringify([\${vars.quoted}])
    save: value
  - evaluate: document.body.append(\${vars.quoted})
  - click: text=\${env.SHOP_PASSWORD} nowhere
    timeout_ms: 700
vars:
  base: ''
  quoted: ''
`,
    )
    const { password } = shopUser
    const word = 'hush4711'
    const reporters = 'line,json=out/run.json,ndjson=out/run.ndjson,junit=out/run.xml,html=out/run.html'
    const argv = ['leak.yaml', '--artifacts', 'out/kept', '--reporter', reporters, '--var', `base=${shop.url}`]
    const { code, stdout, stderr } = await run([...argv, '--var', `quoted=${JSON.stringify(password)}`], {
      env: { SHOP_PASSWORD: password, SHOP_WORD: word },
    })
    expect(code).toBe(1)
    expect(stdout).toContain('✗ 4 Look for *** ')
    const files = await given.folder.files()
    expect(files).toContain('shots/xxx.png')
    expect(files).toContain('out/kept/leak/trace.zip')

    const texts: Record<string, string> = { stdout, stderr, names: files.join('\n') }
    for (const file of files.filter(
      (name) => name.startsWith('out/') && !name.endsWith('.png') && !name.endsWith('.zip'),
    )) {
      texts[file] = await given.folder.read(file)
    }
    for (const [name, bytes] of Object.entries(unzipSync(await given.folder.bytes('out/kept/leak/trace.zip')))) {
      if (!/\.(jpe?g|png)$/.test(name)) texts[`trace ${name}`] = strFromU8(bytes)
    }
    const base64 = Buffer.from(password).toString('base64').slice(0, -2)
    const spellings = [
      password,
      JSON.stringify(password).slice(1, -1),
      encodeURIComponent(password),
      'p&amp;ss',
      'p%26ss',
      base64,
      word,
    ]
    for (const [name, text] of Object.entries(texts)) {
      for (const spelling of spellings) expect(text.includes(spelling), `${name} has ${spelling}`).toBe(false)
    }
    // The files that could have contained it exist.
    expect(texts['out/kept/leak/network-log.txt']).toContain('/login?q=***')
    expect(texts['out/kept/leak/page.html']).toContain('***')
    expect(texts['out/kept/leak/console-log.txt']).toMatch(/login\?q=\*\*\* \S*\*\*\*/)
    expect(texts['trace trace.trace']).toContain('***')
  })
})
