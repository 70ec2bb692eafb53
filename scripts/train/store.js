// Writes models as the extractor reads them (src/engine/extract/main-content/model.ts).

const leafScale = 4096

function writeNode(tree, node, out) {
  if (tree.feature[node] < 0) {
    const value = Math.max(-32768, Math.min(32767, Math.round(tree.value[node] * leafScale)))
    out.push([0xff, 0xff, value & 0xff, (value >> 8) & 0xff])
    return
  }
  const own = [tree.feature[node] & 0xff, tree.feature[node] >> 8, tree.bin[node], 0]
  const at = out.push(own) - 1
  writeNode(tree, tree.left[node], out)
  own[3] = out.length - at
  writeNode(tree, tree.right[node], out)
}

/** Trees as text. */
export function storedTrees({ bias, trees }) {
  const nodes = []
  for (const tree of trees) writeNode(tree, 0, nodes)
  return { bias: Number(bias.toFixed(5)), trees: trees.length, nodes: Buffer.from(nodes.flat()).toString('base64') }
}

/** Scores of words, grouped by score. */
export function storedScores(scores) {
  const groups = {}
  for (const [word, score] of [...scores].toSorted()) (groups[score.toFixed(2)] ??= []).push(word)
  return Object.fromEntries(
    Object.entries(groups)
      .toSorted()
      .map(([score, words]) => [score, words.join(' ')]),
  )
}

/** Thresholds with as few digits as tell them apart. */
export const storedEdges = (edges) => edges.map((values) => Array.from(values, (value) => Number(value.toPrecision(6))))
