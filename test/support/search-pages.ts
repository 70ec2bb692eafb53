/** The result pages of DuckDuckGo (`html` and `lite`) and Bing as browsers get them, including challenges and empty ones. */
import type { Answer, EngineRequest, Engine, Hit } from './search-apis.ts'

const page = (body: string, status = 200): Answer => ({ status, type: 'text/html; charset=UTF-8', body })
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
const words = (text: string): string => text.replaceAll('&', '&amp;').replaceAll("'", '&#x27;')

const wrapped = (url: string): string =>
  `//duckduckgo.com/l/?uddg=${encodeURIComponent(url)}&amp;rut=b50856dec302f4571be69e2d55922c69f78e78daaf2ff17e3a28301f0296a139`

/** The form that leads to another page; `vqd` is a token of the query. */
const turn = (path: string, query: string, offset: number, label: string): string => `
  <div class="nav-link"><form action="${path}" method="post">
    <input type="submit" class='btn btn--alt' value="${label}" />
    <input type="hidden" name="q" value="${escaped(query)}" /><input type="hidden" name="s" value="${offset}" />
    <input type="hidden" name="nextParams" value="" /><input type="hidden" name="v" value="l" />
    <input type="hidden" name="o" value="json" /><input type="hidden" name="dc" value="${offset + 1}" />
    <input type="hidden" name="api" value="d.js" /><input type="hidden" name="vqd" value="4-45349705446566505857056509601508987595" />
    <input name="kl" value="wt-wt" type="hidden" />
  </form></div>`

function turns(path: string, query: string, offset: number, hits: readonly Hit[]): string {
  const back = offset > 0 ? turn(path, query, Math.max(0, offset - 10), 'Previous') : ''
  return back + (offset + 10 < hits.length ? turn(path, query, offset + 10, 'Next') : '')
}

/** The second page requires the token of the first. */
function pageOf({ query }: EngineRequest, hits: readonly Hit[]): { offset: number; shown: readonly Hit[] } | undefined {
  const offset = Number(query.get('s') ?? 0)
  if (offset > 0 && !query.get('vqd')) return undefined
  return { offset, shown: hits.slice(offset, offset + 10) }
}

const challenge = page(
  `<!DOCTYPE html><html><head><meta charset="UTF-8"><title>DuckDuckGo</title></head><body class="body--html">
  <form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html&amp;cc=botnet&amp;ti=1763712000&amp;gk=d4cd0dabcf4caa22ad92fab40844c786" method="POST">
    <div class="anomaly-modal__mask"><div class="anomaly-modal__modal" data-testid="anomaly-modal">
      <div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>
      <div class="anomaly-modal__description">Please complete the following challenge to confirm this search was made by a human.</div>
      <div class="anomaly-modal__instructions">Select all squares containing a duck:</div>
      <div class="anomaly-modal__puzzle"><div class="anomaly-modal__box"><button name="image-check_1" class="anomaly-modal__image-button"></button></div></div>
    </div></div></form></body></html>`,
  202,
)

const frame = (
  query: string,
  body: string,
) => `<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">
<!--[if gt IE 8]><!--><html xmlns="http://www.w3.org/1999/xhtml"><!--<![endif]-->
<head><meta http-equiv="content-type" content="text/html; charset=UTF-8" /><title>${escaped(query)} at DuckDuckGo</title></head>
<body class="body--html"><form action="/html/" method="post"><input type="text" name="state_hidden" id="state_hidden" /></form>
<div id="header" class="header cw header--html"><form name="x" class="header__form" action="/html/" method="post">
<input name="q" class="search__input" type="text" value="${escaped(query)}" /><input name="b" type="submit" /></form></div>
<div class="serp__results"><div id="links" class="results">${body}</div></div></body></html>`

const htmlHit = ({ url, title, snippet }: Hit) => `
<div class="result results_links results_links_deep web-result ">
  <div class="links_main links_deep result__body"> <!-- This is the visible part -->
    <h2 class="result__title"><a rel="nofollow" class="result__a" href="${wrapped(url)}">${words(title)}</a></h2>
    <div class="result__extras"><div class="result__extras__url"><span class="result__icon"><a rel="nofollow" href="${wrapped(url)}"><img class="result__icon__img" width="16" height="16" alt="" src="//external-content.duckduckgo.com/ip3/x.ico" name="i15" /></a></span>
      <a class="result__url" href="${wrapped(url)}"> ${new URL(url).host} </a> <span>&nbsp; &nbsp; 2026-08-01T00:00:00.0000000</span></div></div>
    <a class="result__snippet" href="${wrapped(url)}">${words(snippet)}</a>
    <div class="clear"></div></div></div>`

const htmlAd = `
<div class="result results_links results_links_deep result--ad result--ad--small">
  <div class="links_main links_deep result__body"><h2 class="result__title">
    <a rel="nofollow" class="result__a" href="https://duckduckgo.com/y.js?ad_domain=shop.example&amp;ad_provider=bingv7aa&amp;u3=https%3A%2F%2Fwww.bing.com%2Faclick%3Fld%3De8">Buy deltas</a></h2>
    <button class="badge--ad">Ad</button><a class="result__snippet" href="https://duckduckgo.com/y.js?ad_domain=shop.example">Cheap deltas.</a></div></div>`

export const duckduckgo: Engine = {
  path: '/html/',
  answer(request, hits, mode) {
    if (request.path !== '/html/' && request.path !== '/lite/') return undefined
    const query = request.query.get('q') ?? ''
    const found = pageOf(request, hits)
    if (mode === 'rejects' || !found) return challenge
    if (mode === 'busy')
      return page(
        '<html><head><title>403 Forbidden</title></head><body><center><h1>403 Forbidden</h1></center><hr><center>nginx</center></body></html>',
        403,
      )
    if (mode === 'empty')
      return page(
        frame(
          query,
          '<div class="result results_links results_links_deep result--no-result"><div class="no-results">No  results.</div></div>',
        ),
      )
    const { offset, shown } = found
    const nav = turns(request.path, query, offset, hits)
    if (request.path === '/html/') return page(frame(query, htmlAd + shown.map(htmlHit).join('') + nav))
    return page(`<!DOCTYPE html><html><head><title>${escaped(query)} at DuckDuckGo</title></head><body><table border="0">
      <tr class="result-sponsored"><td>0.</td><td><a rel="nofollow" href="https://duckduckgo.com/y.js?ad_domain=x" class='result-link'>Buy deltas</a></td></tr>
      ${shown.map(liteHit).join('')}</table>${nav}</body></html>`)
  },
}

const liteHit = ({ url, title, snippet }: Hit, at: number) => `
  <tr><td valign="top">${at + 1}.&nbsp;</td><td><a rel="nofollow" href="${wrapped(url)}" class='result-link'>${words(title)}</a></td></tr>
  <tr><td>&nbsp;&nbsp;&nbsp;</td><td class='result-snippet'>${words(snippet)}</td></tr>
  <tr><td>&nbsp;&nbsp;&nbsp;</td><td><span class='link-text'>${new URL(url).host}</span></td></tr>`

const clicked = (url: string): string =>
  `https://www.bing.com/ck/a?!&amp;&amp;p=4f3c1d7b2a&amp;ptn=3&amp;ver=2&amp;hsh=4&amp;fclid=2f6b&amp;u=a1${Buffer.from(url).toString('base64url')}&amp;ntb=1`

const strong = (text: string): string => words(text).replaceAll(/<(\/?)b>/g, '<$1strong>')

/** A headline contains its link, or is inside it on narrow pages. */
function bingHit({ url, title, snippet }: Hit, at: number): string {
  const headline =
    at % 4 === 3
      ? `<div class="b_algoheader"><a href="${escaped(url)}" h="ID=SERP,51${at}.2"><h2 class="">${strong(title)}</h2></a></div>`
      : `<h2 class=""><a target="_blank" href="${clicked(url)}" h="ID=SERP,51${at}.2">${strong(title)}</a></h2>`
  return `<li class="b_algo" data-id iid="SERP.5${at}"><div class="b_tpcn"><a class="tilk" href="${clicked(url)}"><div class="tptxt"><div class="tptt">${new URL(url).host}</div><div class="b_attribution"><cite>${escaped(url)}</cite></div></div></a></div>
    ${headline}<div class="b_caption"><p class="b_lineclamp3"><span class="algoSlug_icon" data-priority="2">WEB</span>${strong(snippet)}</p></div></li>`
}

const bingFrame = (
  query: string,
  body: string,
) => `<!DOCTYPE html><html dir="ltr" lang="en" xml:lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><title>${escaped(query)} - Search</title></head>
<body class="b_respl"><header id="b_header"><form action="/search" id="sb_form"><textarea id="sb_form_q" name="q">${escaped(query)}</textarea></form></header>
<div id="b_content"><main aria-label="Search Results"><ol id="b_results" class="">${body}</ol></main></div></body></html>`

const bingChallenge = `<!DOCTYPE html><html dir="ltr" lang="en"><head><title>Captcha</title></head><body><div id="b_content"><main>
<ol id="b_results"></ol><div class="captcha"><div class="captcha_header">One last step</div><div class="captcha_text">Please solve the challenge below to continue</div>
<form action="/turing/captcha/challenge" method="post"><div id="cf-chl-widget" class="cf-turnstile" data-sitekey="0x4AAAAAAA"></div></form></div></main></div></body></html>`

export const bing: Engine = {
  path: '/search',
  answer({ path, query }, hits, mode) {
    if (path !== '/search') return undefined
    const text = query.get('q') ?? ''
    if (mode === 'rejects') return page(bingChallenge)
    if (mode === 'busy') return page('<h1>Too Many Requests</h1>', 429)
    if (mode === 'empty')
      return page(
        bingFrame(
          text,
          `<li class="b_no"><h1>There are no results for <strong>${escaped(text)}</strong></h1><ul><li>Check your spelling or try different keywords</li></ul></li>`,
        ),
      )
    const start = Number(query.get('first') ?? 1) - 1
    const shown = hits.slice(start, start + 10)
    const ad = `<li class="b_ad"><ul><li><h2><a href="https://www.bing.com/aclick?ld=e8&amp;u=x">Buy deltas</a></h2></li></ul></li><li class="b_algo"><h2><a href="https://www.bing.com/aclick?ld=e8&amp;u=x">Sponsored</a></h2></li>`
    return page(
      bingFrame(
        text,
        `${ad}${shown.map(bingHit).join('')}<li class="b_ans"><h2>Related searches</h2><a href="/search?q=more">more</a></li><li class="b_pag"><a class="sb_pagN" href="/search?q=x&amp;first=${start + 11}">Next</a></li>`,
      ),
    )
  },
}
