/** Summarizes a text by its two or three most representative sentences. */
import { collapse, type ElementNode, isElement, isSilent, type TreeNode, wordSet } from '../../extract/tree.ts'

const summaryLength = 3
/** Maximum number of sentences considered, which keeps the time for huge pages linear. */
const considered = 400

interface Sentence {
  readonly text: string
  readonly words: readonly string[]
  readonly at: number
}

/** Returns an extractive summary of main content, given the page's title and description. */
export function summarise(root: ElementNode, title: string, description: string, language: string): string {
  const sentences = sentencesOf(root, language)
  if (sentences.length === 0) return tidy(description || title)
  if (sentences.length <= summaryLength) return sentences.map(({ text }) => text).join(' ')
  const weights = weigh(sentences)
  const topic = new Set(wordsOf(`${title} ${description}`))
  const scored = sentences.map((sentence) => ({ sentence, score: scoreOf(sentence, weights, topic, sentences.length) }))
  const ranked = scored.toSorted((a, b) => b.score - a.score || a.sentence.at - b.sentence.at)
  const best: Sentence[] = []
  for (const { sentence } of ranked) {
    if (best.every((other) => overlap(other, sentence) < 0.6)) best.push(sentence)
    if (best.length === summaryLength) break
  }
  // A repetitive text still gets two different sentences, if it has two.
  const other = ranked.find(({ sentence }) => sentence.text !== best[0]?.text)
  if (best.length < 2 && other) best.push(other.sentence)
  return best
    .toSorted((a, b) => a.at - b.at)
    .map(({ text }) => text)
    .join(' ')
}

/** Maximum length of a block, in characters: splitting it into sentences may take quadratic time. */
const maxBlockLength = 10_000

/** Returns the sentences of the running text, without headings, code and tables. */
function sentencesOf(root: ElementNode, language: string): Sentence[] {
  const segmenter = new Intl.Segmenter(safeLanguage(language), { granularity: 'sentence' })
  const found: Sentence[] = []
  for (const block of textBlocks(root)) {
    for (const { segment } of segmenter.segment(block.slice(0, maxBlockLength))) {
      const text = tidy(segment)
      const words = wordsOf(text)
      const isSentence =
        /[.!?…。！？؟।]["'”’»)\]]{0,9}$/.test(text) && (words.length >= 5 || /[\u3040-\u9fff]{8}/.test(text))
      if (isSentence && text.length <= 500) found.push({ text, words, at: found.length })
      if (found.length >= considered) return found
    }
  }
  return found
}

const skipped = wordSet('h1 h2 h3 h4 h5 h6 pre code table nav footer aside button form figure figcaption')
const blocks = wordSet('p li blockquote dd div section article main td body html summary details')

function textBlocks(root: ElementNode): string[] {
  const texts: string[] = []
  let line = ''
  const flush = () => {
    if (line.trim() !== '') texts.push(tidy(line))
    line = ''
  }
  const visit = (node: TreeNode): void => {
    if (!isElement(node)) return void (line += node.text)
    if (skipped.has(node.tag) && node.tag !== 'code') return flush()
    if (isSilent(node)) return
    const alone = blocks.has(node.tag) || node.tag === 'br'
    if (alone) flush()
    for (const child of node.children) visit(child)
    if (alone) flush()
  }
  visit(root)
  flush()
  return texts
}

/** Returns the weight of each word, by its frequency in the text. */
function weigh(sentences: readonly Sentence[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { words } of sentences) for (const word of new Set(words)) counts.set(word, (counts.get(word) ?? 0) + 1)
  for (const [word, count] of counts) {
    // Words in more than half of the sentences are function words.
    const share = count / sentences.length
    counts.set(word, word.length < 4 || share > 0.5 || count < 2 ? 0 : Math.log1p(count))
  }
  return counts
}

function scoreOf({ words, at }: Sentence, weights: Map<string, number>, topic: Set<string>, total: number): number {
  const unique = [...new Set(words)]
  const theme = unique.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0) / Math.sqrt(unique.length + 4)
  const onTopic = unique.filter((word) => word.length > 3 && topic.has(word)).length / (Math.min(topic.size, 12) || 1)
  const lead = at === 0 ? 1.2 : at < 3 ? 0.7 : Math.max(0, 0.4 * (1 - at / total))
  const size = words.length < 8 || words.length > 45 ? -0.5 : 0
  return theme + 2 * onTopic + lead + size
}

function overlap(a: Sentence, b: Sentence): number {
  const known = new Set(a.words)
  return b.words.filter((word) => known.has(word)).length / Math.max(1, Math.min(a.words.length, b.words.length))
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]{1,1000}/gu) ?? []

const tidy = (text: string): string => collapse(text.replaceAll(/\[(?:\d+|edit|citation needed)\]/g, '')).trim()

function safeLanguage(language: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(language)[0]
  } catch {
    return undefined
  }
}
