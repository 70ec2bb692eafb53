/** Content of a document, with facts about it. */
import type { TreeNode } from '../../../extract/tree.ts'

export interface OfficeContent {
  readonly nodes: readonly TreeNode[]
  readonly title?: string | undefined
  readonly description?: string | undefined
  readonly author?: string | undefined
  readonly language?: string | undefined
  readonly published?: string | undefined
  readonly modified?: string | undefined
  /** Number of slides. */
  readonly pages?: number
  /** Parts of the document that are not in the content. */
  readonly warning?: string
}
