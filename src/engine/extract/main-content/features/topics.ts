/** Detects the topics of page sections, by their class names and by the headings above them. */
import type { ElementNode } from '../../tree.ts'
import { attribute } from '../../tree.ts'
import { wordsOfName } from './text-measure.ts'

/** Kinds of sections, and words of class names, ids and roles that indicate them. */
const kindWords = {
  comments:
    'comment comments commenting disqus respond kommentar kommentare commentaire commentaires comentarios reply replies thread',
  reviews:
    'review reviews rating ratings testimonial testimonials feedback bewertung bewertungen avis opiniones ugc bazaarvoice bvr yotpo trustpilot okendo jdgm judgeme stamped powerreviews customer customers stars',
  related:
    'related recommend recommended recommendation recommendations recirc recirculation similar suggest suggested suggestions also upsell upsells cross crosssell trending popular recent latest viewed taboola outbrain more next',
  questions: 'faq faqs question questions answer answers qna qanda',
  legal:
    'legal disclaimer disclaimers disclosure disclosures footnote footnotes sosumi terms copyright reference references citation citations',
  promotion:
    'newsletter subscribe subscription signup promo promos promotion promotional banner cta ads adv advert advertisement sponsor sponsored campaign donate paywall',
  share: 'share sharing social follow facebook twitter linkedin whatsapp',
  crumbs: 'breadcrumb breadcrumbs crumb crumbs bread',
  byline: 'author authors byline meta date time published posted tags bio biography credits',
  filters:
    'filter filters facet facets sort sorting refine refinement refinements toolbar pagination pager paging paginate',
  cards: 'card cards tile tiles grid item items product products listing listings result results teaser teasers',
  buying:
    'price prices pricing cart buy basket atc sku stock shipping delivery quantity qty variant variants swatch swatches option options checkout',
  carousel: 'carousel slider slide slides slick swiper splide gallery owl glide flickity marquee',
  folds: 'tab tabs tabpanel panel panels collapse collapsible accordion toggle expander expandable dropdown',
  sidebar: 'sidebar sidebars rail widget widgets aside secondary complementary',
  overlay:
    'modal popup popover dialog overlay drawer cookie cookies consent gdpr tooltip lightbox flyout offcanvas minicart toast alert notice notification',
  menu: 'nav menu menus navbar navigation megamenu topbar header footer masthead skip',
  hero: 'hero jumbotron intro lead headline title masthead subtitle dek standfirst',
  details:
    'description descriptions desc spec specs specification specifications detail details feature features overview about summary bullets attributes ingredients highlights',
  body: 'content article body entry post prose rte richtext markdown story text copy paragraph documentation',
  posts: 'message messages messagebody topic topics forum posts bbcode bbp cooked postbody tweet discussion',
  people: 'user users avatar avatars profile signature member members username team',
  hidden: 'hidden invisible offscreen screenreader hide visually sronly collapsed print noprint mobile desktop',
  input: 'search login signin register account password form input field contact',
  media: 'video player caption captions image figure media photo photos podcast audio',
  partners: 'logo logos partner partners client clients brands trust award awards sponsors',
} as const

export const kinds = Object.keys(kindWords)

const kindsOfWord = new Map<string, number>()
for (const [index, words] of Object.values(kindWords).entries())
  for (const word of words.split(' ')) kindsOfWord.set(word, (kindsOfWord.get(word) ?? 0) | (1 << index))

/** Returns the kinds indicated by words, as bits. */
export function kindsOfWords(words: readonly string[]): number {
  let bits = 0
  for (const word of words) bits |= kindsOfWord.get(word) ?? 0
  return bits
}

/** Returns the kinds indicated by an element, of which `ofNames` are those indicated by its names. */
export function kindsOf(element: ElementNode, ofNames: number): number {
  let bits = ofNames
  // Custom elements: <product-card>.
  if (element.tag.includes('-')) bits |= kindsOfWords(wordsOfName(element.tag))
  const label = attribute(element, 'aria-label')
  if (label !== '' && label.length < 60) {
    const topic = topicsOf(label)
    for (const [index, kind] of labelKinds) if (topic & (1 << index)) bits |= 1 << kind
  }
  return bits
}

/** Topics announced by headings. */
const topicPatterns = {
  comments:
    /\b(?:comments?|repl(?:y|ies)|responses?|discussions?|kommentare?|commentaires?|comentarios?|commenti|reacties|conversation)\b/i,
  reviews:
    /\b(?:reviews?|ratings?|testimonials?|feedback|bewertungen|rezensionen|avis|opiniones|recensioni|what (?:our |people |customers |clients |others )|happy (?:customers|clients)|loved by|trusted by)\b/i,
  related:
    /\b(?:related|similar|also (?:like|be interested|bought|viewed|enjoy)|recommended|recommendations|more (?:from|in|on|stories|articles|news|like|posts|about)|read (?:more|next|also)|trending|popular|latest|recent(?:ly)?|most (?:read|viewed|popular)|up next|see also|further reading|people also|bought together|complete the|pairs? well|you (?:may|might)|mehr zum|lire aussi|weitere|verwandte)\b/i,
  questions: /\b(?:faqs?|frequently|q\s?&\s?a|questions?|häufig)\b|\?\s*$/i,
  notes:
    /\b(?:footnotes?|references|sources|notes|disclaimers?|disclosures?|citations?|bibliography|legal|einzelnachweise|terms)\b/i,
  details:
    /\b(?:descriptions?|details?|specifications?|specs|features?|overview|ingredients|materials?|dimensions|included|highlights|key|system requirements|care|size|fit)\b/i,
  promotion:
    /\b(?:newsletter|subscribe|sign ?up|follow|share|contact|get started|get in touch|download|join|stay|connect|ready to|free trial|demo|quote)\b/i,
  author: /\b(?:about the author|authors?|written by|contributors?|über den autor|team)\b/i,
  policy: /\b(?:shipping|returns?|warranty|delivery|payments?|guarantee|refund|policy|privacy|cookies?)\b/i,
  filters:
    /\b(?:filters?|sort(?:ed)?|categor(?:y|ies)|browse|shop by|refine|departments?|tags|archives?|navigation|menu)\b/i,
} as const

export const topics = Object.keys(topicPatterns)
const patterns = Object.values(topicPatterns)
const labelKinds = ['comments', 'reviews', 'related', 'filters'].map(
  (name) => [topics.indexOf(name), kinds.indexOf(name)] as const,
)

/** Returns the bits of topics. */
export const topicBits = (...names: (keyof typeof topicPatterns)[]): number =>
  names.reduce((bits, name) => bits | (1 << topics.indexOf(name)), 0)

const maxHeadingLength = 90

/** Returns the topics that a short line announces, as bits. */
export function topicsOf(text: string): number {
  if (text.length > maxHeadingLength) return 0
  let bits = 0
  for (let index = 0; index < patterns.length; index++) if (patterns[index]!.test(text)) bits |= 1 << index
  return bits
}
