import { describe, expect, test } from 'vitest'
import { treeFromHtml } from '../../../src/engine/extract/html-tree.ts'
import { needsBrowser } from '../../../src/engine/render/decide/page-reason.ts'
import { HostMemory } from '../../../src/engine/render/decide/fetch-or-render.ts'
import { metaRefresh } from '../../../src/engine/render/http/web-url.ts'

const sentence = 'The river carries sand from the mountains to the sea every spring. '
const prose = `<p>${sentence.repeat(30)}</p>`
const reason = (html: string) => needsBrowser(treeFromHtml(`<!doctype html>${html}`, 'http://x.test/').root)

describe('a page is complete as fetched', () => {
  test.each([
    ['without scripts, however short', '<h1>Hi</h1>'],
    ['without scripts, even with an empty root', '<div id="root"></div>'],
    ['with data for machines only', '<h1>Hi</h1><script type="application/ld+json">{"@type":"Thing"}</script>'],
    [
      'with trackers',
      `<main>${prose}</main><script src="https://www.googletagmanager.com/gtag/js?id=1"></script><script>window.dataLayer = []; function gtag() { dataLayer.push(arguments) }</script>`,
    ],
    [
      'with a tracker that puts in a script',
      `<main>${prose}</main><script>(function (d) { var s = d.createElement('script'); s.src = '/t.js'; d.head.appendChild(s) })(document)</script>`,
    ],
    [
      'with libraries',
      `<main>${prose}</main><script src="/jquery.min.js"></script><script src="/bootstrap.js"></script>`,
    ],
    [
      'rendered by its server',
      `<div id="__next"><main>${prose}</main></div><script src="/_next/static/main-1.js"></script><script id="__NEXT_DATA__" type="application/json">{}</script>`,
    ],
    [
      'behind a guard against robots',
      `<main>${prose}</main><script>(function () { var d = document.createElement('script'); d.innerHTML = "window.__CF$cv$params={r:'1'}"; document.body.appendChild(d) })()</script>`,
    ],
    [
      'with style sheets put into its head',
      `<main>${prose}</main><script>document.addEventListener('DOMContentLoaded', () => { const l = document.createElement('link'); l.href = '/late.css'; document.head.appendChild(l) })</script>`,
    ],
    [
      'with menus that Alpine opens',
      `<main x-data="{ open: false }">${prose}<b x-text="title">A title</b></main><script src="/alpine.js" defer></script>`,
    ],
    [
      'with places for widgets',
      `<main>${prose}</main><div id="fb-root"></div><div id="cookie-consent"></div><script src="/widgets.js"></script>`,
    ],
  ])('%s', (_, html) => expect(reason(html)).toBeUndefined())
})

describe('a page needs a browser', () => {
  test.each([
    ['an empty root', '<div id="root"></div><script src="/main.js"></script>', 'shell'],
    ['an empty Angular root', '<app-root></app-root><script type="module" src="/main.js"></script>', 'shell'],
    ['an empty main', `<nav>${prose}</nav><main></main><script src="/x.js"></script>`, 'shell'],
    [
      'a notice',
      '<noscript>You need to enable JavaScript to run this app.</noscript><div>x</div><script src="/x.js"></script>',
      'notice',
    ],
    [
      'a notice in German',
      '<noscript>Bitte aktivieren Sie JavaScript.</noscript><div>x</div><script src="/x.js"></script>',
      'notice',
    ],
    [
      'placeholders of a template',
      `<main>${prose}<b>{{ price }}</b></main><script src="/vue.js"></script>`,
      'template',
    ],
    [
      'attributes of a template',
      `<main>${prose}<ul><li v-for="i in items"></li></ul></main><script src="/vue.js"></script>`,
      'template',
    ],
    [
      'places that Alpine fills',
      `<main x-data="data">${prose}<b x-text="price"></b></main><script src="/alpine.js" defer></script>`,
      'template',
    ],
    [
      'results of a search',
      `<main>${prose}<div id="search-results"></div></main><script src="/site.js"></script>`,
      'promise',
    ],
    [
      'a place whose name only sounds like an advertisement',
      `<main>${prose}<div id="thread-list"></div></main><script src="/site.js"></script>`,
      'promise',
    ],
    ['hardly any text', '<p>Soon</p><script>go()</script>', 'thin'],
    ['no text at all', '<div></div><script>go()</script>', 'blank'],
    ['no text, and a script that looks like a library', '<div></div><script src="/bootstrap.js"></script>', 'blank'],
    ['a spinner', '<div class="box">Loading…</div><script>go()</script>', 'blank'],
    [
      'a skeleton',
      `<main><p>${sentence.repeat(6)}</p><div class="skeleton"></div></main><script src="/x.js"></script>`,
      'loading',
    ],
    [
      'a place that a script names',
      `<main>${prose}<ul id="rows"></ul></main><script>load('rows').then(fill); document.querySelector('#rows').append(row)</script>`,
      'promise',
    ],
    [
      'a script that writes what it fetches',
      `<main>${prose}</main><script>fetch('/more').then((r) => r.text()).then((t) => document.body.insertAdjacentHTML('beforeend', t))</script>`,
      'writes',
    ],
    [
      'an empty place for content',
      `<main>${prose}<div id="search-results-list"></div><div id="articles"></div></main><script src="/site.js"></script>`,
      'promise',
    ],
  ])('%s', (_, html, expected) => expect(reason(html)).toBe(expected))
})

describe('host memory', () => {
  const root = (body: string) => treeFromHtml(body, 'http://a.test/').root
  const sent = root(prose)
  const filled = (at: number) => root(`${prose}<ul><li>Observation ${at} of the river and its delta</li></ul>`)

  test('renders without a fetch if every page so far needed it', () => {
    const memory = new HostMemory()
    memory.recordRendered('http://a.test/1', 'shell', root(''), filled(1))
    expect(memory.needsBrowser('http://a.test/2')).toBe(false)
    memory.recordRendered('http://a.test/2', 'shell', root(''), filled(2))
    expect(memory.needsBrowser('http://a.test/3')).toBe(true)
    expect(memory.needsBrowser('http://b.test/3')).toBe(false)
    memory.recordComplete('http://a.test/4')
    expect(memory.needsBrowser('http://a.test/5')).toBe(false)
  })

  test('ignores a reason that was always wrong, unless it is certain', () => {
    const memory = new HostMemory()
    for (const page of [1, 2, 3]) memory.recordRendered(`http://a.test/${page}`, 'promise', sent, sent)
    for (const page of [1, 2, 3]) memory.recordRendered(`http://a.test/${page}`, 'shell', sent, sent)
    expect(memory.isIgnored('http://a.test/4', 'promise')).toBe(true)
    expect(memory.isIgnored('http://a.test/4', 'writes')).toBe(false)
    expect(memory.isIgnored('http://a.test/4', 'shell')).toBe(false)
    memory.recordRendered('http://a.test/5', 'promise', sent, filled(5))
    expect(memory.isIgnored('http://a.test/6', 'promise')).toBe(false)
  })

  test('short added content on a long page counts', () => {
    const memory = new HostMemory()
    for (const page of [1, 2, 3, 4]) memory.recordRendered(`http://a.test/${page}`, 'promise', sent, filled(page))
    expect(memory.isIgnored('http://a.test/5', 'promise')).toBe(false)
  })

  test('a banner that scripts add to every page does not count', () => {
    const memory = new HostMemory()
    const banner = root(`${prose}<div>We value your privacy and use cookies for everything</div>`)
    for (const page of [1, 2, 3, 4]) memory.recordRendered(`http://a.test/${page}`, 'promise', sent, banner)
    expect(memory.isIgnored('http://a.test/5', 'promise')).toBe(true)
  })

  test('an ignored reason is tried occasionally', () => {
    const memory = new HostMemory()
    for (const page of [1, 2, 3]) memory.recordRendered(`http://a.test/${page}`, 'promise', sent, sent)
    const followed = Array.from({ length: 20 }, (_, at) => memory.isIgnored(`http://a.test/${at}`, 'promise'))
    expect(followed.filter((vain) => !vain).length).toBe(2)
  })
})

describe('meta refresh', () => {
  test.each([
    ['0; url=/next', 'http://x.test/next'],
    ["3;URL='other'", 'http://x.test/other'],
    ['0, https://y.test/', 'https://y.test/'],
    ['60; url=/next', undefined],
    ['30', undefined],
    ['0; url=/', undefined],
    ['0; url=javascript:alert(1)', undefined],
  ])('%s redirects to %s', (content, target) => {
    const tree = treeFromHtml(`<meta http-equiv="refresh" content="${content}">`, 'http://x.test/')
    expect(metaRefresh(tree, 'http://x.test/')).toBe(target)
  })

  test('is ignored in noscript', () => {
    const tree = treeFromHtml('<noscript><meta http-equiv="refresh" content="0; url=/no"></noscript>', 'http://x.test/')
    expect(metaRefresh(tree, 'http://x.test/')).toBeUndefined()
  })
})

describe('pages built to take minutes (fails by timing out)', () => {
  const spans = Array.from({ length: 40_000 }, (_, at) => `<span id=n${at}></span>`).join('')
  const script = (code: string) => `<main>${prose}</main>${spans}<script>fetch('/x').then(${code})</script>`

  test('thousands of empty containers and much code', () => {
    expect(reason(script(`'"#\``.repeat(120_000)))).toBe(undefined)
  })

  test.each(["'n39999'", '"n39999"', '`n39999`', "$('#n39999')", "'#n39999 > p'"])('of which %s is named', (name) => {
    expect(reason(script(`x${'"q"'.repeat(80_000)}${name}`))).toBe('promise')
  })

  test('a repeated notice word, and a script name that repeats the start of a bundle name', () => {
    const notice = `<noscript>${'activ'.repeat(60_000)}é</noscript><script src="/${'app-'.repeat(60_000)}x"></script>`
    expect(reason(`<main>${prose}</main>${notice}`)).toBe(undefined)
  })
})
