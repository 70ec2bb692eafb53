/** Tag rules of HTML: void elements, foreign content, and end tags implied by start tags. */
import { wordSet } from './tree.ts'

/** Elements without content and end tag. */
export const voids = wordSet(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
)

/** Roots of other vocabularies, and elements in them that contain HTML. */
export const foreign = wordSet('math svg')
export const integration = wordSet('mi mo mn ms mtext annotation-xml foreignobject desc title')

const paragraph = wordSet('p')
const headings = wordSet('h1 h2 h3 h4 h5 h6 p')
const formParts = wordSet('input option optgroup select button datalist textarea')
const terms = wordSet('dd dt')
const readings = wordSet('rt rp')
const sections = wordSet('thead tbody')
const endsParagraph =
  'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul'

/** Elements that each start tag ends. */
export const closedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...endsParagraph.split(' ').map((tag) => [tag, paragraph] as const),
  ...'h1 h2 h3 h4 h5 h6'.split(' ').map((tag) => [tag, headings] as const),
  ...'select input output button datalist textarea'.split(' ').map((tag) => [tag, formParts] as const),
  ['a', wordSet('a')],
  ['tr', wordSet('tr th td')],
  ['th', wordSet('th')],
  ['td', wordSet('thead th td')],
  ['body', wordSet('head link script')],
  ['li', wordSet('li')],
  ['option', wordSet('option')],
  ['optgroup', wordSet('optgroup option')],
  ['dd', terms],
  ['dt', terms],
  ['rt', readings],
  ['rp', readings],
  ['tbody', sections],
  ['tfoot', sections],
])
