/** Shortens a long page to the parts that are relevant to a question. */
import { synonymOf, wordsOf } from './words.ts'

const gapMark = '[…]'

/** Returns the blocks of a Markdown text most relevant to the question, in page order, with marks at omissions. */
export function cutToBudget(markdown: string, question: string, budget: number): string {
  if (markdown.length <= budget) return markdown
  const longest = Math.max(200, Math.floor(budget / 4))
  const blocks = markdown.split(/\n{2,}/).flatMap((block) => pieces(block, longest))
  const queryWords = new Set(wordsOf(question).map(synonymOf))
  const words = blocks.map((block) => new Set(wordsOf(block.slice(0, 4000)).map(synonymOf)))
  const scores = scoresOf(words, queryWords)
  const order = blocks.map((_, at) => at).sort((a, b) => scores[b]! - scores[a]! || a - b)
  const chosen = new Set<number>()
  let left = budget - gapMark.length * 2
  for (const at of order) {
    const cost = blocks[at]!.length + gapMark.length + 4
    if (cost > left) continue
    chosen.add(at)
    left -= cost
    if (left < 100) break
  }
  let out = ''
  let last = -1
  for (const at of [...chosen].sort((a, b) => a - b)) {
    if (at !== last + 1) out += `${gapMark}\n\n`
    out += `${blocks[at]}\n\n`
    last = at
  }
  return out.trim()
}

/** Scores blocks: rare words of the question weigh more; early blocks, and those next to a match, get a small bonus. */
function scoresOf(words: readonly ReadonlySet<string>[], queryWords: ReadonlySet<string>): number[] {
  const found = new Map([...queryWords].map((word) => [word, words.filter((set) => set.has(word)).length]))
  const own = words.map((set) =>
    [...queryWords].reduce(
      (sum, word) => sum + (set.has(word) ? Math.log(1 + words.length / (found.get(word) || 1)) : 0),
      0,
    ),
  )
  return own.map((score, at) => {
    const beside = Math.max(own[at - 1] ?? 0, own[at - 2] ?? 0, (own[at + 1] ?? 0) / 2)
    return score + beside * 0.4 + 1 / (at + 2)
  })
}

const pieces = (block: string, longest: number): string[] =>
  Array.from({ length: Math.ceil(block.length / longest) }, (_, at) => block.slice(at * longest, (at + 1) * longest))
