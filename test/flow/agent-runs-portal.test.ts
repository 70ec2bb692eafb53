/**
 * A fixed program as an agent on a single sign-on portal, LemonLDAP::NG: tasks that need a person once, and log-ins with
 * stored credentials. The text that the person types and the secrets of the credentials appear nowhere.
 */
import type { Page } from 'playwright'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { totpCode } from '../../src/engine/store/totp.ts'
import { spellingsOf } from '../support/attacks.ts'
import { missingForPortals, type Portals, startPortals } from '../support/lemonldap.ts'
import { titled } from '../support/needs.ts'
import { type ScriptedAgent, startAgent } from '../support/scripted-agent.ts'
import { clickAt } from '../support/views.ts'

const accounts = [
  { name: 'anna', fullName: 'Anna Consents', password: 'annas p&ss "wörd"/+<1>' },
  { name: 'rose', fullName: 'Rose Tyler', password: 'roses p&ss "wörd"/+<2>' },
  { name: 'mickey', fullName: 'Mickey Smith', password: 'mickeys-Pass/77?' },
  { name: 'john', fullName: 'John Smith', password: 'johns-Pass/88?' },
]
/** Secrets of one-time codes, of the users who have registered one. */
const totp = new Map<string, string>()
/** Texts that the person has typed, and codes that were written for them. */
const typed: string[] = []

/** Returns the secrets of the runs. Short ones match as whole words only. */
const secrets = () => [
  ...accounts.flatMap(({ password }) => spellingsOf(password)),
  ...totp.values(),
  ...typed.map((text) => new RegExp(`(?<![\\w.])${text}(?!\\w)`)),
  // The beginning of every private key of the passkeys, in base64.
  'MIGHAgEAMBMGByqGSM49',
]

describe.skipIf(missingForPortals)(titled('on a portal', missingForPortals), () => {
  let portals: Portals
  let agent: ScriptedAgent

  beforeAll(async () => {
    portals = await startPortals(accounts)
    agent = await startAgent(secrets)
    for (const name of ['rose', 'mickey']) totp.set(name, await registerCodes(name))
    const origins = [portals.url, portals.guardedUrl].map((url) => new URL(url).origin)
    for (const { name, password } of accounts)
      await agent.store({
        name,
        origins,
        username: name,
        password,
        ...(name === 'rose' && { totp: totp.get('rose')! }),
        ...(name === 'john' && { passkey: true }),
      })
  })
  afterAll(async () => {
    await agent?.close(accounts.length)
    await portals?.close()
  })
  afterEach(() => agent.finish('localhost'))

  /** Registers an application for one-time codes, as a user does in a browser of their own; returns its secret. */
  async function registerCodes(name: string): Promise<string> {
    const page = await agent.views.newPage()
    await page.goto(portals.url)
    await page.locator('[name=user]').fill(name)
    await page.locator('[name=password]').fill(accounts.find((one) => one.name === name)!.password)
    await page.getByRole('button', { name: 'Connect' }).click()
    await page.getByText(`Connected as ${name}`).waitFor()
    await page.goto(`${portals.url}2fregisters/totp`)
    await page.locator('#secret').filter({ hasText: /\w/ }).waitFor()
    const secret = (await page.locator('#secret').textContent())!.replaceAll(' ', '')
    await page.locator('#code').fill(await totpCode(secret, Date.now()))
    await page.locator('#verify').click()
    await page.getByText('Your key is registered').waitFor()
    await page.context().close()
    return secret
  }

  /** Returns the center of an element of the session's page. */
  async function centerOf(selector: string): Promise<[x: number, y: number]> {
    const text = await agent.act(
      `evaluate "(({x, y, width, height}) => 'at ' + (x + width / 2) + ' ' + (y + height / 2))(document.querySelector('${selector}').getBoundingClientRect())"`,
    )
    const [, x, y] = /at ([\d.]+) ([\d.]+)/.exec(text)!
    return [Number(x), Number(y)]
  }

  /** Types a text into a field as the person, and submits it. */
  async function answer(view: Page, [x, y]: readonly [number, number], text: string): Promise<void> {
    typed.push(text)
    await clickAt(view, x, y)
    await view.keyboard.type(text)
    await view.keyboard.press('Enter')
  }
  const isMickey = 'text:Connected as mickey'
  const untilHost = (view: Page, host: string) =>
    view.waitForFunction((text) => document.querySelector<HTMLInputElement>('#address')!.value.includes(text), host)

  /** Returns the table of the log-ins of a user who is logged in. */
  const readHistory = (name: string) =>
    agent.act(
      `wait-for --text "Connected as ${name}" --timeout-ms 60000`,
      'click "text=Login history"',
      'get text "#loginHistory"',
    )

  describe('a person', () => {
    test('reads the picture of a log-in form', async () => {
      await agent.open(portals.guardedUrl)
      expect(await agent.fails('browser_act', { commands: ['login mickey'] })).toContain('Captcha: Please fill out')
      const [, token] = /token (\d+_\d+)/.exec(await agent.act(`evaluate "'token ' + document.forms[0].token.value"`))!
      const field = await centerOf('[name=captcha]')
      const digits = await portals.digits(token!)
      expect(digits).toMatch(/^\d{10}$/)
      await agent.handOver('type the digits', (view) => answer(view, field, digits), isMickey)
      expect(await readHistory('mickey')).toContain('127.0.0.1')
    })

    test('types a one-time code', async () => {
      await agent.open(portals.url)
      expect(await agent.fails('browser_act', { commands: ['login mickey'] })).toContain('asks for a totp')
      const field = await centerOf('[name=code]')
      const code = await totpCode(totp.get('mickey')!, Date.now())
      await agent.handOver('type the code of your phone', (view) => answer(view, field, code), isMickey)
      expect(await readHistory('mickey')).toContain('127.0.0.1')
    })

    test('consents, and the agent goes on in the other portal', async () => {
      await agent.open(portals.teamUrl)
      expect(await agent.act('login anna')).toContain('Team rooms')
      const button = await centerOf('button[type=submit]')
      await agent.handOver('allow Team rooms to read your name', async (view) => {
        await clickAt(view, ...button)
        await untilHost(view, new URL(portals.teamUrl).host)
      })
      expect(await agent.act('wait-for --text "Connected as" --timeout-ms 60000', 'get url')).toContain(portals.teamUrl)
    })
  })

  describe('a stored credential', () => {
    test('logs in with a password and a one-time code', async () => {
      await agent.open(portals.url)
      expect(await agent.act('login rose')).toContain('Connected as rose')
      for (const ago of [0, 30_000]) typed.push(await totpCode(totp.get('rose')!, Date.now() - ago))
      expect(await readHistory('rose')).toContain('127.0.0.1')
    })

    test('logs in with a password and a passkey', async () => {
      await agent.open(portals.url)
      await agent.act('login john', 'use-passkey john')
      await agent.call('browser_open', { url: `${portals.url}2fregisters/webauthn` })
      await agent.act('click "#register"', 'wait-for --text "Your key is registered" --timeout-ms 60000')
      for (const path of ['?logout=1', '']) await agent.call('browser_open', { url: portals.url + path })
      expect(await agent.act('login john')).toContain('Connected as john')
      expect(await readHistory('john')).toContain('127.0.0.1')
    })
  })
})
