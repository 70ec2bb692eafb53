/** Exports for scripts/train, which trains on the same features that the extractor computes. */
export { treeFromHtml } from '../html-tree.ts'
export { blockFeatures, featuresOf, pageFeatures } from './features/features.ts'
export { scoresOfWords } from './features/lexicon.ts'
export { extraColumns, together } from './main-content.ts'
export { writeSecond } from './features/second-pass.ts'
export { expectedBest, keptBlocks } from './selection.ts'
export { surveyPage } from './features/survey.ts'
export { nameWordsOf, wordsOfName } from './features/text-measure.ts'
