/** Elements without a box of their own, or hidden from assistive technology only. */
import { expect, test } from 'vitest'
import { inUsualHomes } from '../support/commands.ts'

const image = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='200' height='100'/%3E`
const pages = {
  '/map': `<!doctype html><title>Map</title><div style="height:2000px"></div><img src="${image}" usemap="#m" width=200 height=100 style="border:5px solid;padding:7px">
    <map name=m><area id=left coords="0,0,100,100" href="#left" alt="Left room"><area id=round shape=circle coords="150,50,30" href="#round" alt="Round room">
    <area id=corner shape=poly coords="180,0,200,0,200,100,195,100,195,5,180,5" href="#corner" alt=Corner onmouseover="document.title = 'over'"><area coords="0,0,1,1" alt="No link"></map>
    <map name=none><area href="#none" alt="No image"></map>`,
  '/contents': `<!doctype html><style>body{margin:0;font:20px monospace}.c{display:contents}</style><div style="height:1500px"></div>
    <button id=button class=c>click me</button><div id=empty class=c></div>
    <iframe id=inner style="border:3px solid" srcdoc="<style>body{margin:0}</style><div id=in style='display:contents'><div style='width:70px;height:30px;background:red'></div></div>"></iframe>`,
  '/modal': `<!doctype html><div id=root><label>Name <input value=Kettle></label><button aria-label="Close menu">x</button><a href=/x aria-label=More><i aria-hidden=true>icon</i></a>
    <button onclick="root.ariaHidden = 'true'; list.hidden = false">Status</button></div>
    <div id=list role=listbox hidden><div role=option onclick="root.ariaHidden = null; list.hidden = true">Live</div></div>`,
}

inUsualHomes(pages, (given) => {
  const observe = (more = {}) => given.client().observe({ session_id: given.sessionId(), ...more })

  test('areas of image maps have references, and are clicked and hovered', async () => {
    await given.open('/map')
    // The second one finds what the first one has prepared.
    await observe()
    const { snapshot, elements } = await observe()
    expect(snapshot!.replaceAll(/ \[ref=e\d+\]/g, '')).toBe('- link "Left room"\n- link "Round room"\n- link "Corner"')
    for (const [selector, hash] of [
      ['#left', '#left'],
      ['#round', '#round'],
      [`ref=${elements!.find(({ name }) => name === 'Corner')!.ref}`, '#corner'],
    ] as const) {
      await given.do('click', { selector })
      expect(await given.evaluate('location.hash')).toBe(hash)
    }
    await given.do('click_advanced', { selector: 'area[alt="Left room"]' })
    expect(await given.evaluate('location.hash')).toBe('#left')
    await given.do('hover', { selector: '#corner' })
    expect(await given.value('get_title')).toBe('over')
    expect(await given.fails('click', { selector: '[alt="No image"]', timeout_ms: 500 })).toMatchObject({
      code: 'element_not_visible',
    })
  })

  test('an area that is covered is not clicked', async () => {
    await given.open('/map')
    await given.evaluate(
      'document.body.insertAdjacentHTML("beforeend", "<div style=\'position:fixed;inset:0\'></div>")',
    )
    expect(await given.fails('click', { selector: '#left', timeout_ms: 700 })).toMatchObject({ success: false })
    expect(await given.evaluate('location.hash')).toBe('')
  })

  test.each([
    ['#button', (width: number, height: number) => width > 40 && width < 200 && height > 10 && height < 60],
    ['frame=#inner >> #in', (width: number, height: number) => width === 70 && height === 30],
  ])('screenshot of %s shows what an element with display: contents shows', async (selector, fits) => {
    await given.open('/contents')
    const { screenshot } = await given.do('screenshot', { selector })
    const bytes = Buffer.from(screenshot as string, 'base64')
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toSatisfy(([width, height]: number[]) =>
      fits(width!, height!),
    )
  })

  test('screenshot of an element that shows nothing fails', async () => {
    await given.open('/contents')
    expect(await given.fails('screenshot', { selector: '#empty' })).toMatchObject({ code: 'element_not_visible' })
  })

  test('names that a list hides from assistive technology are no changes', async () => {
    await given.open('/modal')
    const { snapshot } = await observe()
    expect(snapshot).toMatch(/button "Close menu"/)
    await given.do('click', { selector: 'text=Status' })
    const { changes } = await observe({ diff: true })
    expect(changes).toMatchObject({ texts: { added: [], removed: [], replaced: [] }, states: [], values: [] })
    expect(changes!.controls).toEqual({
      added: [expect.stringMatching(/^listbox /), expect.stringMatching(/^option "Live" /)],
      removed: [],
    })
    expect((await observe()).snapshot).toMatch(/button "Close menu"/)
    // Selectors by role still match only what assistive technology sees.
    expect(await given.value('count_elements', { selector: 'role=button' })).toBe(0)
  })
})
