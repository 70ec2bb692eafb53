// Writes models as the extractor reads them (src/engine/extract/main-content/model.ts).

const leaf = 0xffff

/** Returns a tree's nodes in preorder, with the values of the edges instead of their numbers. */
function writeNode(tree, node, edges, out) {
  const at = out.features.length
  out.rights.push(0)
  if (tree.feature[node] < 0) {
    out.features.push(leaf)
    out.thresholds.push(tree.value[node])
    return
  }
  out.features.push(tree.feature[node])
  out.thresholds.push(edges[tree.feature[node]][tree.bin[node]])
  writeNode(tree, tree.left[node], edges, out)
  out.rights[at] = out.features.length - at
  writeNode(tree, tree.right[node], edges, out)
}

const base64 = ({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength).toString('base64')

/** Serializes trees; `edges` are those of the bins that they were trained on. */
export function storedTrees({ bias, trees }, edges) {
  const out = { features: [], thresholds: [], rights: [] }
  const roots = []
  for (const tree of trees) {
    roots.push(out.features.length)
    writeNode(tree, 0, edges, out)
  }
  return {
    bias: Number(bias.toFixed(5)),
    roots: base64(Uint32Array.from(roots)),
    features: base64(Uint16Array.from(out.features)),
    thresholds: base64(Float32Array.from(out.thresholds)),
    rights: base64(Uint8Array.from(out.rights)),
  }
}

/** Serializes a table of scores. */
export const storedScores = ({ hashes, scores }) => ({ hashes: base64(hashes), scores: base64(scores) })
