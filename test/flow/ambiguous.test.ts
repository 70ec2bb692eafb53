/** Selectors that match several elements. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bax } from '../support/cli.ts'
import { type Homes, openHomes } from '../support/homes.ts'
import { scriptFolder, type ScriptFolder } from '../support/scripts.ts'
import { serveSite, type Site } from '../support/site.ts'

const pages = {
  '/': `<title>Wizard</title><script>window.clicked = []; addEventListener('click', ({ target }) => clicked.push(target.id))</script>
    <button id=hidden class=next style="display:none">Continue →</button>
    <button id=shown class=next>Continue →</button><button id=other class=next>Continue →</button>
    <p class=price style="display:none">0.00</p><p class=price>9.99</p>
    <input type=file class=file id=f1 style="display:none"><input type=file class=file style="display:none">
    <meta name=a content=1><meta name=b content=2>
    <div class=late style="display:none">first</div><div class=late style="display:none" id=second>second</div>
    <button class=off style="display:none">A</button><button class=off disabled>B</button>
    <div class=card id=card draggable=true>Card</div><div class=slot id=slot1>1</div><div class=slot id=slot2>2</div>`,
}

let site: Site
let homes: Homes
let folder: ScriptFolder
let session: string
beforeAll(async () => {
  ;[site, homes, folder] = await Promise.all([serveSite(pages), openHomes(), scriptFolder()])
  session = (await homes.clients.embedded.createSession({ headless: true })).session_id!
})
beforeEach(() => run('navigate_to', { url: site.url }))
afterAll(async () => {
  await homes?.close()
  await site?.close()
  await folder?.close()
})

async function run(command: string, data: Record<string, unknown>, more: object = {}) {
  const body = { session_id: session, commands: [{ command, data }], ...more }
  const { results } = await homes.clients.embedded.runCommands(body as never)
  return results[0]!
}
const clicked = async () => (await run('evaluate', { expression: 'clicked.splice(0)' })).data!['result']
const cli = (...argv: string[]) => bax([...argv, '-s', session, '--server', homes.baseUrl])

describe('a selector that matches several elements', () => {
  test('uses the first visible element, and reports the number of matches', async () => {
    expect(await run('click', { selector: '.next' })).toMatchObject({ success: true, matches: 3 })
    expect(await run('click', { selector: 'text=Continue →' })).toMatchObject({ success: true, matches: 3 })
    expect(await clicked()).toMatchObject({ value: ['shown', 'shown'] })
    const price = await run('get_text', { selector: '.price' })
    expect(price).toMatchObject({ matches: 2, data: { result: { value: '9.99' } } })
  })

  test('uses the first element if none is visible and visibility is not required', async () => {
    const meta = await run('get_attribute', { selector: 'meta[content]', attribute: 'name' })
    expect(meta).toMatchObject({ matches: 2, data: { result: { value: 'a' } } })
    const info = await run('get_basic_info', { selector: '.file' })
    expect(info).toMatchObject({ data: { result: { value: { id: 'f1' } } } })
  })

  test('waits until one of the elements is visible', async () => {
    await run('evaluate', { expression: 'setTimeout(() => second.style.display = "", 150); 1' })
    expect(await run('hover', { selector: '.late' })).toMatchObject({ success: true, matches: 2 })
  })

  test('omits the number for a single match', async () => {
    expect(await run('click', { selector: '#shown' })).not.toHaveProperty('matches')
  })

  test('names the element that was tried in the error', async () => {
    const failed = await run('click', { selector: '.off', timeout_ms: 700 })
    expect(failed).toMatchObject({
      code: 'not_editable',
      matches: 2,
      error: '.off (the first visible of 2 matches) is disabled (button.off "B")',
      hint: 'list the matches with --strict, and use a selector for one of them',
    })
  })

  test('is allowed as the target of a drag', async () => {
    expect(await run('drag_to', { selector: '#card', target_selector: '.slot' })).toMatchObject({ matches: 2 })
  })
})

describe('strict', () => {
  test('rejects the selector before any action, and lists the candidates', async () => {
    expect(await run('click', { selector: '.next' }, { strict: true })).toMatchObject({
      success: false,
      code: 'ambiguous_selector',
      error:
        '.next matches 3 elements: button#hidden.next "Continue →", button#shown.next "Continue →", button#other.next "Continue →"',
      details: {
        matched: 3,
        delivered: false,
        candidates: [{ selector: '#hidden' }, { selector: '#shown' }, { selector: '#other' }],
      },
    })
    expect(await clicked()).toMatchObject({ value: [] })
    expect(await run('click', { selector: '#shown' }, { strict: true })).toMatchObject({ success: true })
  })

  test('is a field of a step, and a flag of do and step', async () => {
    const commands = [{ command: 'get_text', data: { selector: '.price' } }]
    const step = await homes.clients.embedded.browserStep({ session_id: session, commands, strict: true } as never)
    expect(step.results[0]).toMatchObject({ code: 'ambiguous_selector' })
    for (const word of ['do', 'step']) {
      const loose = await cli(word, 'get-text', '.price')
      expect(loose.code, loose.stderr).toBe(0)
      expect(loose.stderr).toContain('get-text: .price matches 2 elements: the first visible one is used\n')
      const strict = await cli(word, 'get-text', '.price', '--strict')
      expect(strict.code).toBe(1)
      expect(strict.stderr).toContain('.price matches 2 elements: p.price "0.00", p.price "9.99" [ambiguous_selector]')
    }
  })

  test('is a field of a script, and a flag of run', async () => {
    const steps = `session: ${session}\nsteps:\n  - get_text: .price\n`
    await folder.write('loose.yaml', steps)
    await folder.write('strict.yaml', `strict: true\n${steps}`)
    const server = ['--server', homes.baseUrl]
    expect((await folder.run(['loose.yaml', ...server])).code).toBe(0)
    for (const argv of [['strict.yaml'], ['loose.yaml', '--strict']]) {
      const { code, stdout, stderr } = await folder.run([...argv, ...server])
      expect(code, stderr).toBe(1)
      expect(stdout + stderr).toContain('.price matches 2 elements')
    }
  })
})
