/** Tag rules of HTML: void elements, foreign content, and end tags implied by start tags. */
import { wordSet } from './tree.ts'

/** Elements without content and end tag. */
export const voids = wordSet(
  'area base basefont br col command embed frame hr img input isindex keygen link meta param source track wbr',
)

/** Roots of other vocabularies, and elements in them that contain HTML. */
export const foreign = wordSet('math svg')
export const integration = wordSet('mi mo mn ms mtext annotation-xml foreignobject desc title')

/** Elements that start tags end, by the names of the start tags. */
const ended = {
  'p address article aside blockquote details div dl fieldset figcaption figure footer form header hr main nav ol pre section table ul':
    'p',
  'h1 h2 h3 h4 h5 h6': 'h1 h2 h3 h4 h5 h6 p',
  'select input output button datalist textarea': 'input option optgroup select button datalist textarea',
  a: 'a',
  tr: 'tr th td',
  th: 'th',
  td: 'thead th td',
  body: 'head link script',
  li: 'li',
  option: 'option',
  optgroup: 'optgroup option',
  'dd dt': 'dd dt',
  'rt rp': 'rt rp',
  'tbody tfoot': 'thead tbody',
}

/** Elements that each start tag ends. */
export const closedBy: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(ended).flatMap(([tags, words]) => {
    const names = wordSet(words)
    return tags.split(' ').map((tag) => [tag, names] as const)
  }),
)
