import { describe, expect, test } from 'vitest'
import type { Control } from '../../../src/engine/browser/credentials/find-controls.ts'
import { questionIn } from '../../../src/engine/browser/credentials/question.ts'

const controlsOf = (kind: Control['kind'], ...texts: string[]): Control[] => texts.map((text) => ({ kind, text }))
const asked = (head: string, ...controls: Control[]) => questionIn({ head, controls })

describe('the question of a page', () => {
  test.each([
    ['Verify your identity', ['Authenticator app', 'SMS to •••12'], 'Authenticator app'],
    ['Two-Factor Authentication', ['Email me a code', 'Enter a TOTP code'], 'Enter a TOTP code'],
    ['2-Step Verification', ['Text me a code', 'Use a backup code'], undefined],
    ['Verify it’s you', ['Code of the authenticator app', 'Another authenticator'], undefined],
    ['Verify it’s you', ['Push to your authenticator app', 'Text me a code'], undefined],
  ])('%s with %j is for a second factor', (head, choices, app) => {
    for (const kind of ['button', 'link'] as const)
      expect(asked(head, ...controlsOf(kind, ...choices))).toEqual({
        asks: 'for a second factor',
        choices,
        app: app && { choice: { kind, text: app } },
      })
  })

  test('sends a selected app only with the one button that does', () => {
    const radios = controlsOf('radio', 'Text me a code', 'Authenticator app')
    const chosen = (...buttons: string[]) => asked('Sign in', ...radios, ...controlsOf('button', ...buttons))!.app?.next
    expect(chosen('Next', 'Cancel')).toEqual({ kind: 'button', text: 'Next' })
    expect(chosen('Next', 'Later')).toBeUndefined()
    expect(chosen()).toBeUndefined()
  })

  test.each(['Approve the sign-in on your phone', 'Check your inbox', 'We sent you a link', 'Tap Yes in the Tea app'])(
    '%s is for a confirmation elsewhere',
    (head) => {
      expect(asked(head, ...controlsOf('button', 'Resend'))).toEqual({
        asks: 'for a confirmation on another device or in a message',
        choices: ['Resend'],
      })
    },
  )

  test.each([
    ['Your inbox', ['Check your spam folder']],
    ['Confirm your order', ['Pay by phone', 'Back']],
    ['Verify your address', ['Resend the e-mail']],
    ['Security', ['Set up an authenticator app', 'Add a security key']],
    ['Two-factor authentication', ['Manage security keys', 'Remove phone']],
    ['Welcome back', ['Text editor', 'E-mail']],
    ['Choose an account\nShop', ['Ann', 'Sign out']],
    ['Please allow cookies', ['Accept all', 'Settings']],
    ['Remember this device', ['Log out']],
  ])('%s with %j is not one', (head, choices) => {
    expect(asked(head, ...controlsOf('link', ...choices))).toBeUndefined()
  })
})
