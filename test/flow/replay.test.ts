/** Replays: one file that explains a session to a reader who has nothing else. */
import { describe, expect, test } from 'vitest'
import { copiesIn, replays } from '../support/replays.ts'

const given = replays()
const { bax, create, openReplay } = given

const password = 'c0rrect <horse> & "battery"'

describe('a replay', () => {
  test('opens at the failure, with its reason, the page before it, and what led to it', async () => {
    await create('/', '--replay')
    await bax('click', '#buy')
    await bax('observe')
    expect((await bax('click', '#missing', '--timeout-ms', '300')).code).not.toBe(0)
    const { page, requests } = await openReplay()
    const failed = page.locator('.step.current')
    expect(await failed.locator('h2').innerText()).toMatch(/2\. click #missing failed/)
    expect(await failed.locator('.fault').innerText()).toContain('no element matches #missing')
    const frame = page.frameLocator('#screen iframe')
    expect(await frame.locator('h1').evaluate((h1) => getComputedStyle(h1).color)).toBe('rgb(1, 2, 3)')
    await page.keyboard.press('ArrowUp')
    const first = page.locator('.step.current')
    expect(await first.innerText()).toMatch(/404\s+GET http:\S+\/order \(fetch/)
    expect(await first.innerText()).toContain('order failed with 404')
    await first.getByText('Observation that the caller saw').click()
    expect(await first.innerText()).toContain('button "Buy"')
    const outline = frame.locator('#buy').evaluate((button) => getComputedStyle(button).outlineColor)
    expect(await outline).toBe('rgb(232, 89, 12)')
    expect(requests).toEqual([])
    await page.close()
  })

  test('runs and fetches nothing of a hostile page', async () => {
    await create('/hostile', '--replay')
    await bax('get-title')
    await bax('eval', "top.pwned = undefined; '</script><script>top.pwned = 17</script>'")
    const before = given.site.requests.length
    const { page, requests } = await openReplay()
    for (const at of ['#s1', '#s2']) {
      await page.goto(`${page.url().replace(/#.*/, '')}${at}`)
      const frame = page.frameLocator('#screen iframe')
      await frame.locator('#link').click()
      await frame.locator('h1').click()
      await frame.locator('button').click()
      await page.keyboard.press('ArrowRight')
      await frame.locator('h1').click()
    }
    for (const frame of page.frames()) expect(await frame.evaluate('self.pwned')).toBeUndefined()
    expect(await page.frameLocator('#screen iframe').locator('textarea').inputValue()).toContain('</textarea><img')
    expect(await page.frameLocator('#screen iframe').frameLocator('iframe').locator('b').innerText()).toBe('framed')
    expect([requests, given.site.requests.slice(before)]).toEqual([[], []])
    await page.close()
  })

  test('has no password, however it was typed, and no credentials', async () => {
    await create('/', '--replay')
    await bax('fill', '#password', password)
    await bax('fill', '#plain', `copy of ${password}, Bearer abcdefghijklmnop`)
    await bax(
      'eval',
      'console.log(document.querySelector("#password").value); btoa(document.querySelector("#password").value)',
    )
    await bax('fill-form', JSON.stringify({ Password: 'other-password' }))
    await bax('click', '#password')
    await bax('insert-text', 'typed-password')
    await bax('open', `${given.site.url}/far?token=abcdefgh&q=${encodeURIComponent(password)}`)
    const { page, html } = await openReplay()
    const all = html + copiesIn(html)
    const escaped = password.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;').replaceAll('"', '&quot;')
    for (const spelling of [
      password,
      escaped,
      encodeURIComponent(password),
      btoa(password),
      'other-password',
      'typed-password',
    ])
      expect(all).not.toContain(spelling)
    expect(all).not.toMatch(/abcdefgh/)
    expect(html).toContain('[redacted]')
    await page.close()
  })

  test('of a session that is not recorded fails with the way to record one', async () => {
    await create('/')
    expect(await bax('session', 'replay')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('hint: create it with "bax session create --replay"'),
    })
  })
})
