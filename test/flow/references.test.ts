import { expect, test } from 'vitest'
import { limits } from '../../src/core/limits/limits.ts'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/': `<!doctype html><button id=buy onclick="this.textContent = 'Bought'">Buy</button><p>Text</p>
    <iframe id=inner src=/inner style="margin:30px;border:0"></iframe>`,
  '/inner': '<!doctype html><style>body{margin:0}</style><button>Inside</button>',
}

inUsualHomes(pages, (given) => {
  /** Returns the reference in the first line of a fresh snapshot that contains the text. */
  const reference = async (text: string) => {
    const options = { session_id: given.sessionId(), include: ['snapshot' as const], interactive_only: false }
    const { snapshot } = await given.client().observe(options)
    const line = snapshot!.split('\n').find((each) => each.includes(text))!
    return `ref=${/\[ref=(\w+)\]/.exec(line)![1]}`
  }

  test('accepts a reference of a snapshot as a selector, also in frames', async () => {
    await given.open('/')
    const selector = await reference('"Buy"')
    await given.do('click', { selector })
    expect(await given.value('get_text', { selector })).toBe('Bought')
    const inside = await reference('"Inside"')
    expect(await given.value('get_text', { selector: inside })).toBe('Inside')
    const box = (await given.value('get_element_bounding_box', { selector: inside })) as { x: number; y: number }
    expect(await given.value('get_bounding_boxes', { selector: inside })).toMatchObject([{ x: box.x, y: box.y }])
  })

  test('rejects a reference at once when its element was removed', async () => {
    await given.open('/')
    const [buy, inside] = [await reference('"Buy"'), await reference('"Inside"')]
    await given.evaluate('document.body.replaceChildren()')
    for (const selector of [buy, inside]) {
      const { code, details, duration_ms } = await given.fails('click', { selector })
      expect({ code, details }).toMatchObject({ code: 'stale_ref', details: { selector, matched: 0 } })
      expect(duration_ms).toBeLessThan(limits.command.elementMs)
    }
  })
})
