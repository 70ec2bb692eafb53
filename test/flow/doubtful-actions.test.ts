/** Actions that succeed although nothing of what was meant has happened say so. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const pages = {
  '/form': `<!doctype html><form onsubmit="event.preventDefault(); document.title = 'sent'">
    <label for=email>Email</label><input id=email type=email required><select id=size aria-label=Size required><option value="">-<option>L</select>
    <input id=city placeholder="Your city" required><button id=send>Send</button><input type=submit id=skip formnovalidate></form>
    <button id=ask onclick="document.forms[0].checkValidity()">Ask</button>`,
  '/frame': '<!doctype html><iframe id=inner src="/form"></iframe>',
  '/own': `<!doctype html><form id=f><input id=a required></form><button id=b onclick="f.requestSubmit()">Send</button>
    <script>f.addEventListener('invalid', (event) => event.preventDefault(), true)</script>`,
  '/texts': `<!doctype html><h2>Sign in</h2><button onclick="document.title = 'button'">Sign in</button>
    <p>Read the terms</p><a href="#terms">Read the terms</a><h3>News</h3><div onclick="document.title = 'card'"><b>More</b></div><button>More</button>
    <span id=host></span><p>Deep</p><script>host.attachShadow({ mode: 'open' }).innerHTML = '<button>Deep</button>'</script>`,
  '/rest': `<!doctype html><p id=text>Text</p><canvas id=game></canvas><button id=off disabled>Off</button><input id=q><label id=l for=q>Query</label>
    <div id=list style="height:50px;overflow:auto"><p style="height:60px;margin:0">Long</p></div><input type=file id=image accept="image/*, .pdf"><input type=file id=any accept="*/*">`,
}

inUsualHomes(pages, (given) => {
  const warning = async (command: string, data: Record<string, unknown>) => {
    const { results } = await given.run([[command, data]])
    expect(results[0]).toMatchObject({ success: true })
    return results[0]!.warning
  }

  describe('a form that the browser does not accept', () => {
    const messages = /^the browser did not accept the form: Email: [^;]+; Size: [^;]+; Your city: [^;]+$/

    test.each([
      ['click', { selector: '#send' }],
      ['click', { selector: 'text=Send' }],
      ['double_click', { selector: '#send' }],
      ['click_at', {}],
      ['press_key', { selector: '#city', key: 'Enter' }],
      ['press_key', { selector: '#send', key: 'Space' }],
      ['type_text', { selector: '#city', text: '\n' }],
    ])('is reported by %s %j', async (command, data) => {
      await given.open('/form')
      const { x, y } = (await given.evaluate('send.getBoundingClientRect().toJSON()')) as { x: number; y: number }
      const place = command === 'click_at' ? { x: x + 5, y: y + 5 } : {}
      expect(await warning(command, { ...data, ...place })).toMatch(messages)
      expect(await given.evaluate('document.title')).toBe('')
    })

    test('is reported from a frame, too', async () => {
      await given.open('/frame')
      expect(await warning('click', { selector: 'frame=#inner >> #send' })).toMatch(messages)
    })

    test('is not reported by what does not submit it, or later', async () => {
      await given.open('/form')
      await warning('click', { selector: '#send' })
      expect(await warning('press_key', { selector: '#city', key: 'Tab' })).toBeUndefined()
      expect(await warning('click', { selector: 'label' })).toBeUndefined()
      expect(await warning('click', { selector: '#skip' })).toBeUndefined()
      expect(await given.evaluate('document.title')).toBe('sent')
      await given.open('/form')
      expect(await warning('click', { selector: '#ask' })).toBeUndefined()
      await given.run([
        ['fill', { selector: '#email', text: 'a@example.com' }],
        ['select_option', { selector: '#size', values: ['L'] }],
        ['fill', { selector: '#city', text: 'Oslo' }],
      ])
      expect(await warning('press_key', { selector: '#city', key: 'Enter' })).toBeUndefined()
      expect(await given.evaluate('document.title')).toBe('sent')
    })

    test('is not reported when the page shows its own messages', async () => {
      await given.open('/own')
      expect(await warning('click', { selector: '#b' })).toBeUndefined()
    })
  })

  describe('a click by text', () => {
    test.each([
      ['text=Sign in', 'h2', 'role=button[name="Sign in"]'],
      ['text="Read the terms"', 'p', 'role=link[name="Read the terms"]'],
      ['h2:has-text("Sign")', 'h2', 'role=button[name="Sign in"]'],
      ['text=Deep', 'p', 'role=button[name="Deep"]'],
    ])('on no control names the control with this text: %s', async (selector, tag, control) => {
      await given.open('/texts')
      expect(await warning('click', { selector })).toBe(
        `${selector} is the element <${tag}>, which is no control; use ${control} for the one with this text`,
      )
      expect(await given.value('count_elements', { selector: control })).toBe(1)
    })

    test.each(['text=News', 'text=More', 'button', 'h2'])('has no warning otherwise: %s', async (selector) => {
      await given.open('/texts')
      expect(await warning('click', { selector })).toBeUndefined()
    })
  })

  describe('scroll', () => {
    test('says that nothing has moved', async () => {
      await given.open('/rest')
      expect(await warning('scroll', { direction: 'down' })).toBe('nothing can scroll down')
      expect(await warning('scroll', { direction: 'down', selector: '#text' })).toBe('nothing can scroll down')
      expect(await warning('scroll', { direction: 'down', selector: '#list' })).toBeUndefined()
      expect(await warning('scroll', { direction: 'down', selector: '#list' })).toBe(
        'nothing moved: its end is reached (down)',
      )
      expect(await warning('scroll', { direction: 'up', selector: '#list' })).toBeUndefined()
    })
  })

  describe('press_key', () => {
    test.each(['#text', '#game', '#off', '#l', 'text=Query'])('says that %s got no key', async (selector) => {
      await given.open('/rest')
      expect(await warning('press_key', { selector, key: 'a' })).toBe(
        `${selector} cannot be focused, so the key went to the element that has the focus`,
      )
    })

    test.each([
      ['#q', 'a'],
      ['#q', 'Tab'],
      ['css=#q >> visible=true', 'a'],
      ['body', 'a'],
    ])('has no warning for %s and %s', async (selector, key) => {
      await given.open('/rest')
      expect(await warning('press_key', { selector, key })).toBeUndefined()
    })
  })

  test('upload_files names files that do not fit the types of the field', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'bax-types-'))
    const [text, pdf, png] = ['a.txt', 'b.PDF', 'c.png'].map((name) => join(folder, name))
    for (const file of [text!, pdf!, png!]) await writeFile(file, 'content')
    await given.open('/rest')
    expect(await warning('upload_files', { selector: '#image', files: [text] })).toBe(
      '#image is for files of the types image/*, .pdf, and not for a.txt',
    )
    for (const file of [pdf, png])
      expect(await warning('upload_files', { selector: '#image', files: [file] })).toBeUndefined()
    expect(await warning('upload_files', { selector: '#any', files: [text] })).toBeUndefined()
    await rm(folder, { recursive: true })
  })
})
