/** Contents of replays, and what is removed from them; see replay.test.ts. */
import { describe, expect, test } from 'vitest'
import { copiesIn, replays } from '../support/replays.ts'
import { serveSite } from '../support/site.ts'

const given = replays()
const { bax, create, openReplay, run } = given

describe('a replay', () => {
  test('shows the part of the page that was in view, and the page after the command', async () => {
    await create('/', '--replay')
    await bax('scroll-to', '2000')
    await bax('click', '#far')
    const { page } = await openReplay()
    await page.goto(`${page.url()}#s2`)
    const view = page.locator('#screen')
    await expect
      .poll(() => view.locator('iframe').evaluate((frame: HTMLIFrameElement) => frame.contentWindow!.scrollY))
      .toBeGreaterThan(500)
    await page.keyboard.press('ArrowRight')
    expect(await page.frameLocator('#screen iframe').locator('h1').innerText()).toBe('Another page')
    await page.close()
  })

  test('is searched, and limited to failures and what may explain them', async () => {
    await create('/', '--replay')
    await bax('get-title')
    await bax('click', '#buy')
    await bax('click', '#gone', '--timeout-ms', '300')
    const { page } = await openReplay()
    const earlier = page.locator('.step.current .earlier')
    expect(await earlier.innerText()).toMatch(
      /Before this\s+command 2: click #buy – GET \S+\/order 404; console error: order/,
    )
    const offered = await page.locator('.step.current .controls').innerText()
    expect(offered).toMatch(/password field "Password"|textbox "Password"/)
    expect(offered).toMatch(/button "Buy"\s+link "Far below"/)
    expect(await page.locator('header').innerText()).toMatch(/started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(0\.0 s\)/)
    expect(await page.locator('.step.current .head').innerText()).toMatch(
      / UTC · [\d.]+ m?s after the start of the session/,
    )
    expect(await page.locator('nav a.flagged .facts').innerText()).toMatch(/⚑ 2\s*2 flags/)
    await earlier.getByRole('link').press('Enter')
    await page.locator('#s2.current').waitFor()
    expect(await page.locator('#s2 .flags').innerText()).toMatch(/GET \S+\/order 404/)
    await page.keyboard.press('/')
    await page.keyboard.type('order failed')
    const commands = page.locator('nav li:not([hidden]) b')
    expect(await commands.allInnerTexts()).toEqual(['click'])
    await page.keyboard.press('Escape')
    await page.locator('#search').fill('')
    await page.getByLabel('failed and flagged').check()
    expect(await page.locator('nav li:not([hidden]) .what').allInnerTexts()).toEqual(['click #buy', 'click #gone'])
    await page.close()
  })

  test('flags a message that begins to show on a page with many others', async () => {
    await create('/table', '--replay')
    await bax('click', '#save')
    const { page } = await openReplay()
    expect(await page.locator('#s1 .flags').innerText()).toMatch(/here\s+message of the page: "The name is taken"$/)
    await page.close()
  })

  test('has the text of an ordinary field of a page that answers late', async () => {
    await create('/', '--replay')
    await bax('eval', 'setTimeout(() => { for (const end = Date.now() + 1500; Date.now() < end; ); }, 200)')
    await bax('fill', 'css=#plain', 'ordinary text')
    const { page, html } = await openReplay()
    expect(html).toContain('ordinary text')
    expect(html).not.toContain('[redacted]')
    await page.close()
  })

  test('has no data of cards, no codes, and no password of a frame of another site', async () => {
    await create('/pay', '--replay')
    expect(await bax('click', 'frame=#login >> [type=password]')).toMatchObject({ code: 0 })
    expect(await bax('insert-text', 'framed-password')).toMatchObject({ code: 0 })
    const typed = { card: '4000 1234 5678 9010', code: '773311', shown: 'shown-password', note: 'twelve words' }
    for (const [id, text] of Object.entries(typed)) await bax('fill', `#${id}`, text)
    await bax('eval', 'seen.textContent = [card, code, shown, note].map(({ value }) => value).join()')
    await bax('get-text', '#seen')
    const { page, html } = await openReplay()
    const all = html + copiesIn(html)
    for (const text of ['framed-password', ...Object.values(typed)]) expect(all).not.toContain(text)
    expect(all).toContain('Forgotten?')
    expect(copiesIn(html)).toContain('********')
    await page.close()
  })

  test('has no value of a stored credential, also where the page shows it later', async () => {
    const flags = ['--origin', given.site.url, '--username', 'ann']
    const stdin = 'stored-password\n'
    expect(await run(['credential', 'add', 'shop', ...flags], stdin)).toMatchObject({
      code: 0,
    })
    await create('/', '--replay')
    expect(await bax('fill', '--credential', 'shop.password', '#password')).toMatchObject({ code: 0 })
    await bax('eval', 'document.querySelector("h1").textContent = document.querySelector("#password").value; 1')
    await bax('click', '#plain')
    const { page, html } = await openReplay()
    expect(html + copiesIn(html)).not.toContain('stored-password')
    await page.close()
  })

  test('has the beginnings of long results, and no copies of the page for commands that were not run', async () => {
    await create('/', '--replay')
    await bax('eval', "'y'.repeat(100000)")
    await bax('insert-text', 'z'.repeat(50_000))
    const steps = ['click', '#missing', '--timeout-ms', '300', 'then', 'fill', '#password', 'skipped-password']
    expect((await bax('do', ...steps)).code).not.toBe(0)
    const { page, html } = await openReplay()
    const section = (number: number) => page.locator(`#s${number}`)
    expect(await section(1).textContent()).toMatch(/y{1900}.*… \(9[78]\d{3} more characters\)/s)
    expect(await section(2).textContent()).toMatch(/z{1900}.*… \(48\d{3} more characters\)/s)
    expect(await section(3).textContent()).toContain('Page before')
    expect(await section(4).textContent()).not.toContain('Page before')
    expect(html).not.toContain('skipped-password')
    await page.close()
  })

  test('keeps its limit over many large pages, and says what it left out', async () => {
    const noise = (seed: number) =>
      Array.from({ length: 6000 }, (_, at) => Math.sin(seed * 7919 + at).toString(36)).join(' ')
    const body = (seed: number) => `<!doctype html><title>${seed}</title><p>${noise(seed)}</p>`
    const large = await serveSite(Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`/${at}`, body(at)])))
    await create('/', '--replay')
    const steps = Array.from({ length: 100 }, (_, at) => ['then', 'navigate-to', `${large.url}/${at}`]).flat()
    expect(await bax('do', ...steps.slice(1))).toMatchObject({ code: 0 })
    const { page, html } = await openReplay()
    await large.close()
    expect(html.length).toBeLessThan(5_000_000)
    expect(html.length).toBeGreaterThan(3_000_000)
    expect(await page.locator('header').innerText()).toMatch(
      /Left out: \d+ copies of pages, to keep the file below 5 MB/,
    )
    expect(await page.locator('nav li').count()).toBeGreaterThanOrEqual(100)
    await page.close()
  })
})
