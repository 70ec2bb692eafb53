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
const times = (count: number, create: (at: number) => string) => Array.from({ length: count }, (_, at) => create(at)).join('') // prettier-ignore

const cookies = frame('div', 'We use cookies to improve your experience on this site and to measure how it is used. By continuing to browse you agree to our use of cookies and similar technologies.', ' class="note"') // prettier-ignore
const newsletter = `<div class="box">${frame('h3', 'Stay in the loop')}${frame('p', 'Sign up to receive the best stories of the week in your inbox every Friday morning. You can unsubscribe at any time, and we never share your address.')}</div>` // prettier-ignore
const author = `<div class="bio">${frame('h4', 'About the author')}${frame('p', 'Maria Lindgren has written about towns and rivers for more than twenty years. She lives by the sea with two dogs, and her latest book is about the lighthouses of the northern coast.')}</div>` // prettier-ignore
const promotion = `<div class="promo">${frame('p', 'Our new guide to the coast is out now: two hundred pages of walks, maps and stories, printed on recycled paper and sent to your door within a week.')}</div>` // prettier-ignore
const popular = `<div class="more">${frame('h3', 'Most read this week')}<ul>${['The lighthouse that nobody wanted to keep', 'Ten walks along the northern coast in winter', 'How the old mill became a school of music'].map((text) => `<li>${frame('a', text, ' href="/x"')}</li>`).join('')}</ul></div>` // prettier-ignore
const menu = `<div class="top">${['Home', 'News', 'Walks and outdoor stories', 'About us'].map((text) => frame('a', text, ' href="/m"')).join(' ')}</div>` // prettier-ignore
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
    `${menu}<div class="product">${head(texts)}${own('p', `$${texts.number()}.00`, ' class="price"')}${frame('p', 'Free delivery on all orders over fifty, with returns within thirty days. Pay in three parts without interest.', ' class="delivery"')}<div class="description">${prose(texts, 2)}</div><table>${['Width', 'Height', 'Weight'].map((name) => `<tr>${label('th', name)}${own('td', `${texts.number()} mm`)}</tr>`).join('')}<tr>${label('th', 'Warranty')}${label('td', 'Two years')}</tr></table></div>${popular}${rights}`,
  'reference documentation': (texts) =>
    `${menu}<div class="content">${own('h1', `open_${texts.number()}`)}${prose(texts, 1)}${label('h2', 'Parameters')}<table><tr>${label('th', 'Name')}${label('th', 'Type')}${label('th', 'Description')}</tr>${times(3, () => `<tr>${own('td', texts.name())}${label('td', 'string')}${own('td', texts.sentence())}</tr>`)}</table>${label('h2', 'Returns')}${label('p', 'None.')}${label('h2', 'Example')}${label('pre', 'const client = require("client")\nawait client.connect({ retries: 3, timeout: 1000 })')}${own('pre', `client.open(${texts.number()}, "${texts.name()}")`)}${label('h2', 'Errors')}<ul>${label('li', '404: not found')}${own('li', `${texts.number()}: ${texts.sentence()}`)}</ul></div>${newsletter}${rights}`,
  recipes: (texts) =>
    `${menu}<div class="recipe">${head(texts)}${prose(texts, 1)}${label('h2', 'Ingredients')}<ul>${label('li', '1 pinch of salt')}${times(4, () => own('li', `${texts.number()} g ${texts.name()}`))}</ul>${label('h2', 'Steps')}<ol>${label('li', 'Preheat the oven to 200 degrees.')}${times(4, () => own('li', texts.sentence()))}</ol>${newsletter}</div>${popular}${rights}`,
  threads: (texts) =>
    `${menu}<div class="thread">${head(texts)}${times(4, () => `<div class="post"><div class="who">${own('b', texts.name())}</div>${prose(texts, 1)}<div class="sig">${frame('p', 'Please read the rules of this board before you post, and use the search.')}</div></div>`)}</div><div class="rules">${frame('p', 'You are not logged in. Log in or create an account to reply to this thread. Threads without replies are closed after ninety days.')}</div>${rights}`,
  listings: (texts) =>
    `${menu}<div class="list">${head(texts)}${times(8, () => `<div class="card"><h3>${own('a', texts.name(), ' href="/a"')}</h3>${own('p', texts.sentence())}${label('a', 'Read more', ' href="/a"')}</div>`)}</div>${newsletter}${promotion}${rights}`,
}

export const templateSites: readonly TemplateSite[] = Object.entries(bodies).map(([name, body]) => ({
  name,
  page: (number) => {
    const texts = new Texts(number)
    return `<!doctype html><html lang="en"><head><title>${texts.title} | Northern Stories</title></head><body>${body(texts)}</body></html>`
  },
}))
