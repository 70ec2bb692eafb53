/** Recordings that follow pages and tabs, and scripts whose selectors no longer match. */
import { describe, expect, test } from 'vitest'
import { read, recordings, withoutFingerprints } from '../support/recordings.ts'

const given = recordings()
const { record, run } = given

describe('a recorded script', () => {
  test('follows typed URLs and the history, but not the links and scripts that an input repeats', async () => {
    const recording = await record([`${given.site.url}/links`], 'links.yaml')
    const { page } = recording
    await page.getByText('Next').click()
    await page.waitForURL('**/links2')
    await page.getByRole('button', { name: 'Back' }).click()
    await page.waitForURL('**/links')
    await recording.contains('"Back"')
    // Like a person, who looks at a page before leaving it.
    await page.goto(`${given.site.url}/links2`)
    await recording.contains(`navigate_to: ${given.site.url}/links2`)
    await page.goBack()
    await recording.contains('go_back')
    await page.goForward()
    await recording.contains('go_forward')
    await page.reload()
    await recording.contains('refresh')
    await recording.end()
    // Navigations that begin late are also waited for.
    const steps = read(await recording.script()).steps.filter((step) => !Object.hasOwn(step, 'wait_for'))
    const commands = steps.map((step) => (typeof step === 'string' ? step : Object.values(step)[0]))
    expect(commands).toEqual([
      `${given.site.url}/links`,
      'role=link[name="Next"]',
      'role=button[name="Back"]',
      `${given.site.url}/links2`,
      'go_back',
      'go_forward',
      'refresh',
    ])
    expect(await run(['links.yaml'])).toMatchObject({ code: 0 })
  })

  test('switches tabs', async () => {
    const recording = await record([`${given.site.url}/links`], 'tabs.yaml')
    const { page } = recording
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.getByText('Popup').click()])
    await popup.getByText('Inside').click()
    await recording.contains('Inside')
    expect(await run(['tabs.yaml'])).toMatchObject({ code: 0 })
    await page.getByText('Next').click()
    await recording.contains('Next')
    await page.waitForURL('**/links2')
    await popup.close()
    await recording.contains('close_tab')
    await recording.end()
    const { steps } = read(await recording.script())
    // A slow navigation is also waited for.
    expect(withoutFingerprints(steps).filter((step) => !Object.hasOwn(step, 'wait_for'))).toEqual([
      { navigate_to: `${given.site.url}/links` },
      { click: 'role=link[name="Popup"]' },
      { click: 'role=button[name="Inside"]' },
      { switch_tab: 'tab_1' },
      { click: 'role=link[name="Next"]' },
      { close_tab: { tab: 'tab_2' } },
    ])
  })
})

describe('a step whose selector no longer matches', () => {
  const recorded = (path: string) => `# The menu
steps:
  - navigate_to: ${given.site.url}${path} # first
  - click: role=button[name="Basket"] # the basket
    timeout_ms: 5000
    fingerprint: { tag: button, role: button, name: Basket, attributes: { id: basket }, position: 1 }
  - verify: {title: 'click:basket'}
`

  test('uses the element with the same fingerprint, and warns', async () => {
    const recording = await record([`${given.site.url}/menu1`], 'menu.yaml')
    await recording.page.getByText('Basket').click()
    await recording.contains('Basket')
    recording.keys('t')
    await recording.contains('verify')
    await recording.end()
    const script = await recording.script()
    expect(read(script).steps[1]).toEqual(
      read(recorded('/menu1')).steps[1] && {
        click: 'role=button[name="Basket"]',
        fingerprint: (read(recorded('/menu1')).steps[1] as Record<string, unknown>)['fingerprint'],
      },
    )

    // The time for the missing element is also that for the click on the one that is used instead.
    const healed = recorded('/menu2')
    await given.folder.write('healed.yaml', healed)
    const { code, stdout } = await run(['healed.yaml'])
    expect(code).toBe(0)
    expect(stdout).toContain(
      'warning: role=button[name="Basket"] matches nothing; used the element with the same fingerprint: ',
    )
    expect(await given.folder.read('healed.yaml')).toBe(healed)
  })

  test('does not wait for its timeout on a page at rest', async () => {
    // Longer than this test may take.
    await given.folder.write('rest.yaml', recorded('/menu2').replace('5000', '280000'))
    const { code, stdout } = await run(['rest.yaml'])
    expect(code).toBe(0)
    expect(stdout).toContain('used the element with the same fingerprint')
  })

  test('is rewritten with --update, and nothing else is', async () => {
    const before = recorded('/menu2')
    await given.folder.write('update.yaml', before)
    const updated = await run(['update.yaml', '--update'])
    const text = await given.folder.read('update.yaml')
    const selector = (read(text).steps[1] as { click: string }).click
    const line = before.split('\n').findIndex((each) => each.includes('Basket')) + 1
    const [was, is] = [before, text].map((each) => each.split('\n')[line - 1]!.trim())
    const diff = `${line} - ${was}\n${line} + ${is}\n`
    expect(updated).toMatchObject({ code: 0, stderr: `updated 1 selector in update.yaml\n${diff}` })
    expect(selector).not.toContain('Basket')
    expect(text).toBe(before.replace('role=button[name="Basket"]', `'${selector}'`))
    const again = await run(['update.yaml', '--strict'])
    expect(again).toMatchObject({ code: 0 })
  })

  test('is not rewritten with --update by a script that fails', async () => {
    const before = `${recorded('/menu2')}  - click: '#gone'\n    timeout_ms: 100\n`
    await given.folder.write('failing.yaml', before)
    const { code, stdout, stderr } = await run(['failing.yaml', '--update'])
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toContain('used the element with the same fingerprint')
    expect(await given.folder.read('failing.yaml')).toBe(before)
  })

  test('fails with --strict, when several elements fit, and when none does', async () => {
    await given.folder.write('strict.yaml', recorded('/menu2'))
    const strict = await run(['strict.yaml', '--strict'])
    expect(strict.code).toBe(1)
    expect(strict.stdout).toContain('[element_not_found]')
    await given.folder.write('ambiguous.yaml', recorded('/menu3'))
    const ambiguous = await run(['ambiguous.yaml', '--update'])
    expect(ambiguous.code).toBe(1)
    expect(ambiguous.stdout).toMatch(/2 elements fit its fingerprint: button#basket "Cart" .*button#basket "Bag"/)
    expect(await given.folder.read('ambiguous.yaml')).toBe(recorded('/menu3'))
    // The help button shares one of its two identifying attributes with most other buttons.
    const weak = recorded('/menu5').replace('id: basket', 'id: basket, type: button')
    await given.folder.write('weak.yaml', weak)
    await given.folder.write('gone.yaml', recorded('/menu4'))
    for (const script of ['weak.yaml', 'gone.yaml'])
      expect((await run([script])).stdout, script).toContain('[element_not_found]')
  })
})
