// Gradient-boosted trees on binned features: logistic loss with soft labels and weights, trees grown leaf by leaf.
// Implemented here because the registry has no maintained package for it that installs without a compiler.

const maxBins = 64

/** Returns a random number generator that repeats its numbers for the same seed (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Returns the upper edges of at most `bins` bins of equal mass for one column. */
function edgesOf(sample, bins) {
  const sorted = Float32Array.from(sample).sort()
  const distinct = [...new Set(sorted)]
  if (distinct.length <= bins)
    return Float32Array.from(distinct.slice(0, -1), (value, at) => (value + distinct[at + 1]) / 2)
  const edges = new Set()
  for (let bin = 1; bin < bins; bin++) {
    const at = Math.floor((bin * sorted.length) / bins)
    if (sorted[at] > sorted[0]) edges.add(Math.fround((sorted[at] + sorted[at - 1]) / 2))
  }
  return Float32Array.from(edges).sort()
}

/** Returns the bins of a row-major matrix, column by column, in shared memory. */
export function binColumns(values, width, rows) {
  const binned = { columns: new Uint8Array(new SharedArrayBuffer(width * rows)), edges: [], width, rows }
  binAgain(binned, values, 0)
  return binned
}

/** Bins the columns from `first` on again, after their values have changed. */
export function binAgain({ columns, edges, width, rows }, values, first) {
  const random = randomFrom(7)
  const sampleRows = rows <= 60_000 ? null : Int32Array.from({ length: 60_000 }, () => Math.floor(random() * rows))
  for (let feature = first; feature < width; feature++) {
    const count = sampleRows?.length ?? rows
    const sample = new Float32Array(count)
    for (let at = 0; at < count; at++) sample[at] = values[(sampleRows ? sampleRows[at] : at) * width + feature]
    const own = edgesOf(sample, maxBins)
    edges[feature] = own
    const base = feature * rows
    for (let row = 0; row < rows; row++) columns[base + row] = binOf(own, values[row * width + feature])
  }
}

function binOf(edges, value) {
  let low = 0
  let high = edges.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (value > edges[middle]) low = middle + 1
    else high = middle
  }
  return low
}

const defaults = {
  trees: 250,
  leaves: 31,
  rate: 0.08,
  features: 0.3,
  /** Selects the rows with the greatest gradients, and random others with a higher weight. */
  topShare: 0.15,
  restShare: 0.15,
  ridge: 5,
  leastHessian: 5,
  leastGain: 0.01,
  seed: 1,
}

/** Trains on the rows listed in `train`; `labels` from 0 to 1. Returns trees over bins. */
export function boost({ columns, edges, rows }, train, labels, weights, options = {}) {
  const settings = { ...defaults, ...options }
  const random = randomFrom(settings.seed)
  let mass = 0
  let positive = 0
  for (const row of train) {
    mass += weights[row]
    positive += weights[row] * labels[row]
  }
  const bias = Math.log((positive + 1e-6) / (mass - positive + 1e-6))
  const scores = new Float64Array(rows).fill(bias)
  const gradients = new Float64Array(rows)
  const hessians = new Float64Array(rows)
  const allFeatures = Int32Array.from(edges.keys()).filter((feature) => edges[feature].length > 0)
  const trees = []
  for (let round = 0; round < settings.trees; round++) {
    for (const row of train) {
      const chance = 1 / (1 + Math.exp(-scores[row]))
      gradients[row] = weights[row] * (chance - labels[row])
      hessians[row] = Math.max(weights[row] * chance * (1 - chance), weights[row] * 1e-3)
    }
    const chosen = chooseRows(train, gradients, hessians, settings, random)
    const wanted = allFeatures.filter(() => random() < settings.features)
    const tree = growTree({ columns, rows, edges }, chosen, gradients, hessians, wanted, settings)
    trees.push(tree)
    for (const row of train) scores[row] += valueOf(tree, columns, rows, row)
  }
  return { bias, trees }
}

/** Gradient-based one-side sampling: rows that are still wrong, and a weighted sample of the others. */
function chooseRows(train, gradients, hessians, { topShare, restShare }, random) {
  const sample = Float64Array.from({ length: 2000 }, () =>
    Math.abs(gradients[train[Math.floor(random() * train.length)]]),
  )
  const limit = sample.sort()[Math.floor(sample.length * (1 - topShare))]
  const chance = restShare / (1 - topShare)
  const chosen = new Int32Array(train.length)
  let count = 0
  for (const row of train) {
    if (Math.abs(gradients[row]) < limit) {
      if (random() >= chance) continue
      gradients[row] /= chance
      hessians[row] /= chance
    }
    chosen[count++] = row
  }
  return chosen.subarray(0, count)
}

/** Returns the leaf value of one row of binned columns. */
function valueOf(tree, columns, rows, row) {
  let node = 0
  while (tree.feature[node] >= 0)
    node = columns[tree.feature[node] * rows + row] <= tree.bin[node] ? tree.left[node] : tree.right[node]
  return tree.value[node]
}

/** Returns the log odds of the rows in `wanted`. */
export function scoreRows({ columns, rows }, model, wanted) {
  const scores = new Float64Array(wanted.length).fill(model.bias)
  for (const tree of model.trees)
    for (let at = 0; at < wanted.length; at++) scores[at] += valueOf(tree, columns, rows, wanted[at])
  return scores
}

function growTree(data, rowList, gradients, hessians, features, settings) {
  const order = Int32Array.from(rowList)
  const scratch = new Int32Array(order.length)
  const tree = { feature: [], bin: [], left: [], right: [], value: [], gain: [] }
  const addLeaf = (from, to, histogram) => {
    const node = tree.feature.length
    let gradient = 0
    let hessian = 0
    for (let at = from; at < to; at++) {
      gradient += gradients[order[at]]
      hessian += hessians[order[at]]
    }
    tree.feature.push(-1)
    tree.bin.push(0)
    tree.left.push(-1)
    tree.right.push(-1)
    tree.gain.push(0)
    tree.value.push((-gradient / (hessian + settings.ridge)) * settings.rate)
    const split = bestSplit(histogram, features, data.edges, gradient, hessian, settings)
    return { node, from, to, histogram, split }
  }
  const root = buildHistogram(data, order, 0, order.length, gradients, hessians, features)
  const open = [addLeaf(0, order.length, root)]
  for (let leaves = 1; leaves < settings.leaves; leaves++) {
    let best = -1
    for (const [at, leaf] of open.entries())
      if (leaf.split && (best < 0 || leaf.split.gain > open[best].split.gain)) best = at
    if (best < 0) break
    const [leaf] = open.splice(best, 1)
    const middle = partition(data, order, scratch, leaf)
    const leftIsSmall = middle - leaf.from < leaf.to - middle
    const small = leftIsSmall
      ? buildHistogram(data, order, leaf.from, middle, gradients, hessians, features)
      : buildHistogram(data, order, middle, leaf.to, gradients, hessians, features)
    const large = leaf.histogram
    for (let at = 0; at < large.length; at++) large[at] -= small[at]
    tree.feature[leaf.node] = leaf.split.feature
    tree.bin[leaf.node] = leaf.split.bin
    tree.gain[leaf.node] = leaf.split.gain
    const left = addLeaf(leaf.from, middle, leftIsSmall ? small : large)
    const right = addLeaf(middle, leaf.to, leftIsSmall ? large : small)
    tree.left[leaf.node] = left.node
    tree.right[leaf.node] = right.node
    open.push(left, right)
  }
  return tree
}

/** Sums gradients and hessians per bin, feature by feature. */
function buildHistogram({ columns, rows }, order, from, to, gradients, hessians, features) {
  const histogram = new Float64Array(features.length * maxBins * 2)
  const count = to - from
  const ownGradients = new Float64Array(count)
  const ownHessians = new Float64Array(count)
  for (let at = 0; at < count; at++) {
    ownGradients[at] = gradients[order[from + at]]
    ownHessians[at] = hessians[order[from + at]]
  }
  for (let index = 0; index < features.length; index++) {
    const column = features[index] * rows
    const base = index * maxBins * 2
    for (let at = 0; at < count; at++) {
      const cell = base + columns[column + order[from + at]] * 2
      histogram[cell] += ownGradients[at]
      histogram[cell + 1] += ownHessians[at]
    }
  }
  return histogram
}

function bestSplit(histogram, features, edges, gradient, hessian, settings) {
  const { ridge, leastHessian } = settings
  const parent = (gradient * gradient) / (hessian + ridge)
  let best = null
  let most = settings.leastGain
  for (let index = 0; index < features.length; index++) {
    const last = edges[features[index]].length
    let leftGradient = 0
    let leftHessian = 0
    for (let bin = 0; bin < last; bin++) {
      const cell = (index * maxBins + bin) * 2
      leftGradient += histogram[cell]
      leftHessian += histogram[cell + 1]
      if (leftHessian < leastHessian) continue
      const rightHessian = hessian - leftHessian
      if (rightHessian < leastHessian) break
      const rightGradient = gradient - leftGradient
      const gain =
        (leftGradient * leftGradient) / (leftHessian + ridge) +
        (rightGradient * rightGradient) / (rightHessian + ridge) -
        parent
      if (gain > most) {
        most = gain
        best = { feature: features[index], bin, gain }
      }
    }
  }
  return best
}

/** Moves the rows that go left to the front; stable, so that the same seed gives the same trees. */
function partition({ columns, rows }, order, scratch, { from, to, split }) {
  const column = split.feature * rows
  let left = from
  let right = 0
  for (let at = from; at < to; at++) {
    const row = order[at]
    if (columns[column + row] <= split.bin) order[left++] = row
    else scratch[right++] = row
  }
  for (let at = 0; at < right; at++) order[left + at] = scratch[at]
  return left
}
