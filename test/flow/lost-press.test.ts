/** Clicks on elements that the page moves or renews between the press and its release. */
import { describe, expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

/** Each page changes something when the focus changes, which is between the press and its release. */
const head = `<!doctype html><style>body{margin:0} #b{position:absolute;left:0;top:60px;width:100px;height:40px} #p{position:static}</style>
  <script>window.log = []; let once; const first = (change) => { if (!once) { once = true; change() } }</script>`
const button = (more: string) => `${head}<button id=b onclick="log.push('click')" ${more}>Buy</button>`

const pages = {
  '/moves': button(`onfocus="first(() => { b.style.top = '300px' })"`),
  '/message-above': `${head}<input id=name autofocus onblur="message.hidden = false"><p id=message hidden style="height:200px;margin:0">Enter a name</p>
    <button id=b style="position:static;display:block" onclick="log.push('click')">Buy</button><script>document.querySelector('#name').focus()</script>`,
  // A menu is drawn, taken back to nothing, and then unfolds.
  '/unfolds': button(
    `role=menuitem onfocus="first(() => b.animate([{ transform: 'scale(0)' }, { transform: 'scale(0)', offset: 0.5 }, { transform: 'none' }], 400))"`,
  ),
  '/ignores': button(
    `onfocus="first(() => { b.style.pointerEvents = 'none'; setTimeout(() => { b.style.pointerEvents = '' }, 300) })"`,
  ),
  '/renewed': `${head}<div id=p></div><script>
    const renew = () => { p.innerHTML = '<button id=b>Buy</button>' }; renew()
    p.addEventListener('click', ({ target }) => target.id === 'b' && log.push('click'))
    p.addEventListener('focusin', () => first(renew))</script>`,
  '/part-of': `${head}<button id=b onclick="log.push('click')" onfocus="first(() => { b.style.top = '300px' })"><span>Buy</span></button>`,
  '/never': button(`onfocus="b.style.top = b.style.top === '300px' ? '60px' : '300px'; b.blur()"`),
  '/answers': button(`onmousedown="log.push('press'); b.style.top = '300px'"`),
  '/answers-later': `${head}<div id=p></div><script>
    const renew = () => { p.innerHTML = '<button id=b>Buy</button>' }; renew()
    p.onmousedown = () => { log.push('press'); queueMicrotask(renew) }</script>`,
  '/opens': button(
    `onmousedown="log.push('press'); const list = document.createElement('div'); list.style.cssText = 'position:fixed;inset:0'; document.body.append(list)"`,
  ),
  '/leaves': button(`onfocus="b.remove()"`),
}

inUsualHomes(pages, (given) => {
  const ways = [
    ['directly', '#b'],
    ['with Playwright', 'text=Buy'],
  ] as const

  describe.each(ways)('%s', (_, selector) => {
    const target = { selector, timeout_ms: 10_000 }

    test.each(['/moves', '/message-above', '/unfolds', '/ignores', '/renewed', '/part-of'])(
      'a click that the page made miss is repeated: %s',
      async (path) => {
        await given.open(path)
        await given.do('click', target)
        expect(await given.evaluate('log')).toEqual(['click'])
      },
    )

    test.each([
      ['/answers', ['press']],
      ['/answers-later', ['press']],
      ['/opens', ['press']],
      ['/leaves', []],
    ])('a press that the page has answered is not repeated: %s', async (path, log) => {
      await given.open(path)
      await given.do('click', target)
      expect(await given.evaluate('log')).toEqual(log)
    })

    test('a click that misses each time is no success', async () => {
      await given.open('/never')
      const { code, error, details } = await given.fails('click', { ...target, timeout_ms: 5000 })
      expect({ code, error }).toEqual({
        code: 'action_failed',
        error: `${selector} moved while it was pressed, and got no click`,
      })
      expect(details).toMatchObject({ delivered: true })
      expect(await given.evaluate('log')).toEqual([])
    })
  })
})
