/** Differences between two texts, line by line, in the unified format. */
import { OMIT_HEADERS, formatPatch, structuredPatch, type StructuredPatchHunk } from 'diff'
import type { GitDiff } from '../../core/shapes/jobs/changes.ts'

/** Number of differences beyond which a text is replaced as a whole, because finding them takes long. */
const maxEditLength = 1000

/** Unchanged lines around each change. */
const context = 3

/** Returns the changed parts of a text; none for equal texts. */
export function diffHunks(before: string, after: string): StructuredPatchHunk[] {
  const texts = [withLineEnd(before), withLineEnd(after)] as const
  const patch = structuredPatch('', '', ...texts, undefined, undefined, { context, maxEditLength })
  return patch?.hunks ?? [replacement(...texts)]
}

/** A missing line break at the end of a text is not a change. */
const withLineEnd = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

function replacement(before: string, after: string): StructuredPatchHunk {
  const [old, fresh] = [before, after].map((text) => text.split('\n').slice(0, -1)) as [string[], string[]]
  const lines = [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)]
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: fresh.length, lines }
}

/** Formats changes as a diff without file names; empty without changes. */
export function unifiedText(hunks: StructuredPatchHunk[]): string {
  if (hunks.length === 0) return ''
  const names = { oldFileName: '', newFileName: '', oldHeader: undefined, newHeader: undefined }
  return formatPatch({ ...names, hunks }, OMIT_HEADERS).replace(/\n$/, '')
}

/** Formats changes as Firecrawl does: as text, and as the objects of the package parse-diff. */
export function gitDiff(hunks: StructuredPatchHunk[]): GitDiff {
  const chunks = hunks.map((hunk) => {
    let [ln1, ln2] = [hunk.oldStart, hunk.newStart]
    const changes = hunk.lines.map((content) => {
      if (content.startsWith('+')) return { type: 'add' as const, add: true, ln: ln2++, content }
      if (content.startsWith('-')) return { type: 'del' as const, del: true, ln: ln1++, content }
      return { type: 'normal' as const, normal: true, ln1: ln1++, ln2: ln2++, content }
    })
    return { content: unifiedText([{ ...hunk, lines: [] }]), changes }
  })
  return { text: unifiedText(hunks), json: { files: [{ from: null, to: null, chunks }] } }
}
