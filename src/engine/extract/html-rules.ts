/** What HTML leaves out: end tags that a start tag implies, elements that have none. */

const set = (names: string): ReadonlySet<string> => new Set(names.split(' '))

/** Elements without content. */
export const voids = set(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
)

/** Roots of other vocabularies, and where these hold HTML again. */
export const foreign = set('math svg')
export const integration = set('mi mo mn ms mtext annotation-xml foreignobject desc title')

const paragraph = set('p')
const headings = set('h1 h2 h3 h4 h5 h6 p')
const formParts = set('input option optgroup select button datalist textarea')
const terms = set('dd dt')
const readings = set('rt rp')
const sections = set('thead tbody')
const endsParagraph =
  'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul'

/** Elements that end where such a tag begins. */
export const closedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...endsParagraph.split(' ').map((tag) => [tag, paragraph] as const),
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, headings] as const),
  ['a', set('a')],
  ['tr', set('tr th td')],
  ['th', set('th')],
  ['td', set('thead th td')],
  ['body', set('head link script')],
  ['li', set('li')],
  ['select', formParts],
  ['input', formParts],
  ['output', formParts],
  ['button', formParts],
  ['datalist', formParts],
  ['textarea', formParts],
  ['option', set('option')],
  ['optgroup', set('optgroup option')],
  ['dd', terms],
  ['dt', terms],
  ['rt', readings],
  ['rp', readings],
  ['tbody', sections],
  ['tfoot', sections],
])
