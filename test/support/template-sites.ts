/** Sites of one template each, with parts that repeat on every page. Elements state their part in `data-part`. */
import { Texts } from './page-templates.ts'

/** `own`: differs on every page; `label`: repeats within content; `frame`: repeats, and is not content. */
export type Part = 'own' | 'label' | 'frame'

export interface TemplateSite {
  readonly name: string
  /** Returns the HTML of a page; all pages differ. */
  page(number: number): string
}

const part =
  (kind: Part) =>
  (tag: string, content: string | number, attributes = '') =>
    `<${tag}${attributes} data-part="${kind}">${content}</${tag}>`
const own = part('own')
const label = part('label')
const frame = part('frame')
const times = (count: number, create: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => create(at)).join('')

const cookies = frame(
  'div',
  'We use cookies to improve your experience on this site and to measure how it is used. By continuing to browse you agree to our use of cookies and similar technologies.',
  ' class="note"',
)
const newsletter = `<div class="box">${frame('h3', 'Stay in the loop')}${frame('p', 'Sign up to receive the best stories of the week in your inbox every Friday morning. You can unsubscribe at any time, and we never share your address.')}</div>`
const author = `<div class="bio">${frame('h4', 'About the author')}${frame('p', 'Maria Lindgren has written about towns and rivers for more than twenty years. She lives by the sea with two dogs, and her latest book is about the lighthouses of the northern coast.')}</div>`
const promotion = `<div class="promo">${frame('p', 'Our new guide to the coast is out now: two hundred pages of walks, maps and stories, printed on recycled paper and sent to your door within a week.')}</div>`
const popular = `<div class="more">${frame('h3', 'Most read this week')}<ul>${['The lighthouse that nobody wanted to keep', 'Ten walks along the northern coast in winter', 'How the old mill became a school of music'].map((text) => `<li>${frame('a', text, ' href="/x"')}</li>`).join('')}</ul></div>`
const menu = `<div class="top">${['Home', 'News', 'Walks and outdoor stories', 'About us'].map((text) => frame('a', text, ' href="/m"')).join(' ')}</div>`
const rights = `<div class="bottom">${frame('p', '© 2024 Northern Stories Ltd. All rights reserved. Registered in Lund.')}</div>`

type Body = (texts: Texts) => string
const head = ({ title }: Texts): string => own('h1', title)
const prose = (texts: Texts, count: number): string => times(count, () => own('p', texts.paragraph()))

const bodies: Record<string, Body> = {
  'articles of one author': (texts) =>
    `${menu}<div class="story">${head(texts)}${cookies}${prose(texts, 4)}${promotion}${prose(texts, 3)}${author}${newsletter}</div>${popular}${rights}`,
  'semantic articles': (texts) =>
    `<header>${menu}</header><main><article>${head(texts)}${prose(texts, 4)}${frame('p', 'The opinions in this column are those of its author and do not reflect the position of the publisher.', ' class="small"')}${author}${popular}</article></main><aside>${newsletter}</aside><footer>${rights}</footer>`,
  'articles whose frame looks like their paragraphs': (texts) =>
    `${menu}<div class="entry">${head(texts)}${frame('p', 'This story is part of our series about the towns of the north, which is made possible by readers like you who support our work every month.')}${prose(texts, 6)}${frame('p', 'If you liked this story, tell a friend about it, or send us a letter with your own memories of the places that we have described here.')}</div>${rights}`,
  'short pages': (texts) =>
    `${menu}<div class="entry">${head(texts)}${own('p', texts.sentence())}${own('p', texts.sentence())}${author}${newsletter}${promotion}</div>${popular}${rights}`,
  products: (texts) =>
    `${menu}<div class="product">${head(texts)}${own('p', `$${texts.number()}.00`, ' class="price"')}${label('p', 'Free delivery on all orders over fifty, with returns within thirty days. Pay in three parts without interest.', ' class="delivery"')}<div class="description">${prose(texts, 2)}</div><table>${['Width', 'Height', 'Weight'].map((name) => `<tr>${label('th', name)}${own('td', `${texts.number()} mm`)}</tr>`).join('')}<tr>${label('th', 'Warranty')}${label('td', 'Two years')}</tr></table></div>${popular}${rights}`,
  'reference documentation': (texts) =>
    `${menu}<div class="content">${own('h1', `open_${texts.number()}`)}${prose(texts, 1)}${label('h2', 'Parameters')}<table><tr>${label('th', 'Name')}${label('th', 'Type')}${label('th', 'Description')}</tr>${times(3, () => `<tr>${own('td', texts.name())}${label('td', 'string')}${own('td', texts.sentence())}</tr>`)}</table>${label('h2', 'Returns')}${label('p', 'None.')}${label('h2', 'Example')}${label('pre', 'const client = require("client")\nawait client.connect({ retries: 3, timeout: 1000 })')}${own('pre', `client.open(${texts.number()}, "${texts.name()}")`)}${label('h2', 'Errors')}<ul>${label('li', '404: not found')}${own('li', `${texts.number()}: ${texts.sentence()}`)}</ul></div>${newsletter}${rights}`,
  recipes: (texts) =>
    `${menu}<div class="recipe">${head(texts)}${prose(texts, 1)}${label('h2', 'Ingredients')}<ul>${label('li', '1 pinch of salt')}${times(4, () => own('li', `${texts.number()} g ${texts.name()}`))}</ul>${label('h2', 'Steps')}<ol>${label('li', 'Preheat the oven to 200 degrees.')}${times(4, () => own('li', texts.sentence()))}</ol>${newsletter}</div>${popular}${rights}`,
  threads: (texts) =>
    `${menu}<div class="thread">${head(texts)}${times(4, () => `<div class="post"><div class="who">${own('b', texts.name())}</div>${prose(texts, 1)}<div class="sig">${frame('p', 'Please read the rules of this board before you post, and use the search.')}</div></div>`)}</div><div class="rules">${frame('p', 'You are not logged in. Log in or create an account to reply to this thread. Threads without replies are closed after ninety days.')}</div>${rights}`,
  'procedures and recipes with the same steps': (texts) =>
    `${menu}<article>${head(texts)}${prose(texts, 1)}${label('h2', 'Before you begin')}<ul>${label('li', 'You need an account with the rights of an administrator.')}${label('li', 'Install the current version of the client on your computer.')}</ul>${label('h2', 'Steps')}<ol>${label('li', 'Sign in to the console with an account that has the rights of an administrator.')}${times(3, () => own('li', texts.sentence()))}${label('li', 'Click Save, and wait for at least two minutes until the change takes effect.')}</ol>${prose(texts, 2)}</article>${rights}`,
  'interviews with the same questions': (texts) =>
    `${menu}<article>${head(texts)}${prose(texts, 1)}${['What do you do on a typical day at work, and what do you like about it?', 'Which book has changed the way in which you think about your profession?'].map((question) => label('p', question, ' class="question"') + prose(texts, 2)).join('')}</article>${rights}`,
  'operations with the same sections': (texts) =>
    `${menu}<article>${head(texts)}${prose(texts, 1)}${label('h2', 'Authentication')}${label('p', 'Send your key in the header Authorization of every request, with the prefix Bearer.')}${label('h2', 'Limits')}<div class="limits">${label('p', 'This operation allows one hundred requests per minute and account.')}</div>${label('h2', 'Parameters')}${prose(texts, 2)}${label('h2', 'Errors')}<ul>${label('li', '400 when a parameter is missing or has an invalid value')}${label('li', '401 when the key is missing or was revoked')}</ul></article>${rights}`,
  'products of which most are in stock': (texts) =>
    `${menu}<div class="product">${head(texts)}${own('p', `$${texts.number()}.00`, ' class="price"')}<div class="state">${texts.number() < 750 ? label('p', 'In stock: it leaves our warehouse within two working days of your order.') : own('p', `Sold out until next spring. ${texts.sentence()}`)}</div><div class="description">${prose(texts, 3)}</div></div>${rights}`,
  'pages of comments on one article': (texts) =>
    `${menu}<article>${label('h1', 'The lighthouse that nobody wanted to keep')}${label('p', 'For two hundred years the lighthouse on the northern arm of the bay has warned ships of the rocks below it, and for as long its keepers have lived there.')}</article><section class="comments">${own('h2', `Comments, page ${texts.number()}`)}${times(6, () => `<div class="comment">${own('b', texts.name())}${own('p', texts.paragraph())}</div>`)}</section>${rights}`,
  'copies with a sentence of their own': (texts) =>
    `${menu}<div class="text">${head(texts)}${own('p', texts.sentence())}${times(6, (at) => label('p', `${at + 1}. Permission is granted to use, copy and change this work for any purpose, provided that the notice above and this permission appear in all copies.`))}</div>${rights}`,
  'lists with pinned items': (texts) =>
    `${menu}${head(texts)}<div class="list">${['Read the rules of this board before you write your first post here', 'All dates of the meetings of this year, with maps and times of trains'].map((text) => `<div class="card">${label('h3', text)}${label('p', `${text}, says the team of the board, which pinned this post.`)}</div>`).join('')}${times(8, () => `<div class="card">${own('h3', texts.name())}${own('p', texts.sentence())}</div>`)}</div>${rights}`,
  listings: (texts) =>
    `${menu}<div class="list">${head(texts)}${times(8, () => `<div class="card"><h3>${own('a', texts.name(), ' href="/a"')}</h3>${own('p', texts.sentence())}${label('a', 'Read more', ' href="/a"')}</div>`)}</div>${newsletter}${promotion}${rights}`,
}

export const templateSites: readonly TemplateSite[] = Object.entries(bodies).map(([name, body]) => ({
  name,
  page: (number) => {
    const texts = new Texts(number)
    return `<!doctype html><html lang="en" class="page-${texts.title.toLowerCase().replaceAll(' ', '-')}"><head><title>${texts.title} | Northern Stories</title></head><body>${body(texts)}</body></html>`
  },
}))
