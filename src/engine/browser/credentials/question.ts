/** Questions of a site after the password: pages that no credential can fill in. */
import type { JSHandle, Page } from 'playwright'
import type { CallLimit } from '../../../core/operation/command.ts'
import { isGone } from '../page/playwright-errors.ts'
import { type Control, findControls, type PageControls } from './find-controls.ts'

/** Controls of a page that is about its question, choices that are reported, and attempts to read a page. */
const limit = { controls: 12, choices: 8, attempts: 3 }

export interface Question {
  /** Completes the sentence "the page asks …": `for a consent`. */
  readonly asks: string
  readonly choices: readonly string[]
  /** The only choice of an app for one-time codes, and the button that sends it; undefined if that is not certain. */
  readonly app?: { readonly choice: Control; readonly next?: Control } | undefined
}

const factor =
  /\b(?:text|sms|e-?mail|call|push|back-?up|recovery|one-time|verification|phone)\b|authenticat(?:or|ion)\b|\btotp\b|security key|pass-?key|sicherheitsschlüssel/i
const setting = /\b(?:resend|add|register|set ?up|enrol|enable|manage|delete|remove|learn|what|why|help)\b/i
const check =
  /verif|two-?(?:step|factor)|2-?step|\b(?:2fa|mfa)\b|second (?:step|factor)|confirm (?:it.?s you|your identity)|bestätig/i
const appForCodes = /authenticat(?:or|ion)\b|\btotp\b/i
const otherFactor = /\b(?:text|sms|e-?mail|push|call)\b/i
const consent = /\b(?:allow|authori[sz]e|grant|consent|permissions?|(?:wants?|like|request\w*)\b.*\baccess)\b/i
const yes = /\b(?:allow|authori[sz]e|accept|agree|approve|grant|yes|continue)\b/i
const no = /\b(?:deny|decline|cancel|reject|disagree|no)\b/i
const elsewhere =
  /\b(?:approve|confirm|tap)\b.*\b(?:phone|device|app|watch)\b|\b(?:check|look at) your (?:in-?box|e-?mails?|phone|device)\b|\b(?:link|push|notification) (?:was|has been) sent\b|\bsent (?:you )?an? (?:link|push|notification)\b/i
const logOut = /\b(?:log|sign) ?(?:out|off)\b|abmelden/i
const remember = /\b(?:stay|keep me) (?:signed|logged) in\b|\b(?:remember|trust|save) this (?:device|browser|computer)/i
const account =
  /\b(?:choose|select|pick|which) (?:an? |your )?(?:account|organi[sz]ation|workspace|team|tenant|profile)\b/i

/** Returns the question of a page; undefined if it has none. */
export function questionIn({ head, controls }: Pick<PageControls, 'head' | 'controls'>): Question | undefined {
  const pressed = controls.filter(({ kind, text }) => (kind === 'button' || kind === 'link') && text !== '')
  const factors = controls.filter(
    (one) => (one.kind === 'radio' || pressed.includes(one)) && factor.test(one.text) && !setting.test(one.text),
  )
  const radios = factors.filter(({ kind }) => kind === 'radio')
  if (factors.length > 0 && (check.test(head) || radios.length > 1))
    return { ...asking('for a second factor', factors), app: appAmong(factors, pressed) }
  const has = (pattern: RegExp) => pressed.some(({ text }) => pattern.test(text))
  if (consent.test(head) && has(yes) && has(no)) return asking('for a consent', pressed)
  // The rest is also in settings of somebody who is logged in.
  if (has(logOut)) return undefined
  if (elsewhere.test(head)) return asking('for a confirmation on another device or in a message', pressed)
  if (remember.test(head)) return asking('whether to remember this device', pressed)
  if (controls.some(({ kind }) => kind === 'password') && /password|passwort|kennwort/i.test(head))
    return asking('for a new password', pressed)
  return account.test(head) ? asking('to choose an account', pressed) : undefined
}

const asking = (asks: string, choices: readonly Control[]): Question => ({
  asks,
  choices: choices.slice(0, limit.choices).map(({ text }) => text),
})

function appAmong(factors: readonly Control[], pressed: readonly Control[]): Question['app'] {
  const [choice, ...others] = factors.filter(({ text }) => appForCodes.test(text) && !otherFactor.test(text))
  if (!choice || others.length > 0) return undefined
  if (choice.kind !== 'radio') return { choice }
  const [next, ...more] = pressed.filter(
    (one) => one.kind === 'button' && !factors.includes(one) && !/cancel|back|abbrechen/i.test(one.text),
  )
  return next && more.length === 0 ? { choice, next } : undefined
}

/** Returns the question of a page that shows little else. */
export const questionOf = async (page: Page): Promise<Question | undefined> => (await read(page))?.question

/** Chooses the app for one-time codes where a page offers several second factors; returns whether it did. */
export async function chooseApp(page: Page, call: CallLimit): Promise<boolean> {
  const { found, controls, question } = (await read(page)) ?? {}
  if (!question?.app || !found) return false
  const { choice, next } = question.app
  const elementOf = async (control: Control) =>
    (await found.evaluateHandle(({ elements }, at) => elements[at], controls!.indexOf(control))).asElement()!
  const element = await elementOf(choice)
  // The click of a script also reaches a radio button that its label covers.
  if (next) await element.evaluate((one) => (one as HTMLElement).click())
  else await element.click(call)
  if (next) await (await elementOf(next)).click(call)
  return true
}

/** Reads a page, again if it navigates meanwhile; returns undefined if it closes, or goes on navigating. */
async function read(page: Page) {
  for (let attempt = 1; attempt <= limit.attempts && !page.isClosed(); attempt += 1) {
    try {
      const found: JSHandle<PageControls> = await page.mainFrame().evaluateHandle(findControls, limit.controls)
      const { head, controls } = await found.evaluate((one) => ({ head: one.head, controls: one.controls }))
      return { found, controls, question: questionIn({ head, controls }) }
    } catch (error) {
      if (!isGone(error) && !/navigation|detached|context/i.test(String(error))) throw error
    }
  }
  return undefined
}
