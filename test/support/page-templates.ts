/** Pages of templates, for measuring how consistently content is selected. Deterministic: no clock, no randomness. */

const subjects = 'bridge garden harbour library market museum orchard river school station theatre valley'.split(' ')
const places = 'Aldern Brink Corvo Dale Esk Fenwick Gorse Hythe Ilmen Jura Kelso Lund'.split(' ')
const sentences = [
  'The council approved the plan for the SUBJECT in PLACE after a long debate on Tuesday.',
  'Work on the SUBJECT near PLACE begins in spring, and most of it stays open meanwhile.',
  'Visitors of the SUBJECT have asked PLACE for better paths and more light for many years.',
  'The cost of the SUBJECT was estimated at four million, of which PLACE pays about a half.',
  'A report about the SUBJECT in PLACE found that the oldest parts date from the eighteenth century.',
  'Volunteers of PLACE meet at the SUBJECT every second Saturday and welcome everyone.',
  'In PLACE nobody had expected that the SUBJECT would be so popular with children.',
  'The SUBJECT was moved to PLACE in 1931, when the river had flooded its old site twice.',
]

/** Texts of one page, which differ from each other and from those of other pages. */
export class Texts {
  readonly title: string
  private state: number
  constructor(page: number) {
    this.state = page + 1
    this.title = `The ${this.name()}`
  }

  /** Returns the next number below `end` of a linear congruential generator. */
  private next(end: number): number {
    this.state = (Math.imul(this.state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((this.state / 2 ** 32) * end)
  }

  private one = (list: readonly string[]): string => list[this.next(list.length)]!
  name = (): string => `${this.one(places)} ${this.one(subjects)} ${this.number()}`
  number = (): number => 10 + this.next(900)
  sentence = (): string => this.one(sentences).replace('SUBJECT', this.one(subjects)).replace('PLACE', this.one(places))
  paragraph = (): string => Array.from({ length: 2 + this.next(3) }, this.sentence).join(' ')
}

/** Markup of a template: how it names and nests elements. */
interface Skin {
  readonly tag: (role: string) => string
  readonly attributes: (role: string) => string
}

const semantic: Record<string, string> = {
  menu: 'nav',
  main: 'main',
  list: 'ul',
  item: 'li',
  foot: 'footer',
  aside: 'aside',
}
const skins: readonly Skin[] = [
  { tag: (role) => semantic[role] ?? 'div', attributes: (role) => ` class="${role}"` },
  { tag: () => 'div', attributes: (role) => ` class="site-${role}"` },
  {
    tag: (role) => (role === 'main' ? 'article' : (semantic[role] ?? 'section')),
    attributes: (role) => ` class="l-${role} flex p-4"`,
  },
  { tag: (role) => semantic[role] ?? 'div', attributes: (role) => ` class="css-${role.length}x${role.charCodeAt(0)}"` },
]

/** Elements of a page; each text carries its role in `data-role`. */
const text = (tag: string, role: string, content: string | number): string =>
  `<${tag} data-role="${role}">${content}</${tag}>`

/** Content of a kind of page; `box` wraps it in the template's element for a part. */
type Body = (texts: Texts, length: number, box: (role: string, html: string) => string) => string

const times = (count: number, create: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => create(at)).join('')
const head = (texts: Texts): string => text('h1', 'title', texts.title)
const prose = (texts: Texts, count: number): string => times(count, () => text('p', 'paragraph', texts.paragraph()))

const bodies: Record<string, Body> = {
  article: (texts, length, box) => head(texts) + box('body', prose(texts, length + 2)),
  documentation: (texts, length, box) =>
    head(texts) +
    times(length, (at) =>
      box(
        'part',
        `${text('h2', 'heading', texts.name())}${prose(texts, 2)}${text('pre', 'code', `open(${at}, "${texts.name()}")`)}`,
      ),
    ),
  service: (texts, length, box) =>
    head(texts) +
    text('p', 'lead', texts.paragraph()) +
    box(
      'list',
      times(length + 2, () =>
        box('item', `${text('h3', 'name', texts.name())}${text('p', 'about', texts.sentence())}`),
      ),
    ),
  forum: (texts, length, box) =>
    head(texts) +
    times(length + 1, (at) =>
      box(
        'post',
        `${text('b', 'author', texts.name())}${text('div', 'date', `May ${(at % 28) + 1}, 2024`)}${prose(texts, 2)}`,
      ),
    ),
  collection: (texts, length, box) =>
    head(texts) +
    box(
      'list',
      times(length + 4, () =>
        box(
          'item',
          `<h3><a href="/p" data-role="name">${texts.name()}</a></h3>${text('p', 'price', `$${texts.number()}.00`)}`,
        ),
      ),
    ),
  listing: (texts, length, box) =>
    head(texts) +
    box(
      'list',
      times(length + 3, () =>
        box(
          'item',
          `<h2><a href="/p" data-role="name">${texts.name()}</a></h2>${text('p', 'teaser', texts.sentence())}`,
        ),
      ),
    ),
  product: (texts, length, box) =>
    head(texts) +
    text('p', 'price', `$${texts.number()}.00`) +
    box('description', prose(texts, 2)) +
    `<table>${times(length + 2, () => `<tr data-role="specification"><th>${texts.name()}</th><td>${texts.number()} mm</td></tr>`)}</table>`,
  recipe: (texts, length, box) =>
    head(texts) +
    text('p', 'lead', texts.paragraph()) +
    box(
      'ingredients',
      `<ul>${times(length + 3, () => text('li', 'ingredient', `${texts.number()} g ${texts.name()}`))}</ul>`,
    ) +
    box('steps', `<ol>${times(length + 2, () => text('li', 'step', texts.sentence()))}</ol>`),
  faq: (texts, length, box) =>
    head(texts) +
    times(length + 2, () =>
      box(
        'question',
        `${text('h3', 'question', `Where is the ${texts.name()}?`)}${text('p', 'answer', texts.paragraph())}`,
      ),
    ),
  table: (texts, length, box) =>
    head(texts) +
    text('p', 'lead', texts.paragraph()) +
    box(
      'body',
      `<table>${times(length + 4, () => `<tr data-role="row"><td>${texts.name()}</td><td>${texts.number()}</td><td>${texts.number()}</td></tr>`)}</table>`,
    ),
}

export interface Template {
  readonly name: string
  /** HTML of `count` pages whose content grows in length. */
  pages(count: number): string[]
}

/** Four templates in each of ten kinds of pages. */
export const templates: readonly Template[] = Object.entries(bodies).flatMap(([kind, body]) =>
  skins.map((skin, number) => ({
    name: `${kind} ${number + 1}`,
    pages: (count) => Array.from({ length: count }, (_, page) => pageOf(body, skin, page)),
  })),
)

function pageOf(body: Body, skin: Skin, page: number): string {
  const texts = new Texts(page)
  const box = (role: string, html: string) => `<${skin.tag(role)}${skin.attributes(role)}>${html}</${skin.tag(role)}>`
  const link = (role: string) => (name: string) => `<a href="/${name}" data-role="${role}">${name}</a>`
  const menu = ['Home', 'News', 'About us', 'Contact', 'Log in'].map((name) => box('entry', link('menu')(name)))
  const related = times(3, () => box('card', link('related')(`Read about the ${texts.name()}`)))
  return `<!doctype html><html lang="en"><head><title>${texts.title} | Site</title></head><body>
    ${box('menu', menu.join(''))}${box('main', body(texts, 2 + page, box))}
    ${box('aside', `<h4 data-role="related-heading">Related</h4>${related}`)}
    ${box('foot', `<p data-role="rights">© 2024 Site Ltd. All rights reserved.</p>${link('legal')('Privacy policy')}`)}</body></html>`
}
