/** `bax shell tree`: prints a directory as a tree. */
import type { TreeNode } from '../../../core/shapes/shell/files.ts'
import { note, print } from '../../io.ts'
import { operationCommand, type OperationShape } from '../../operation-command.ts'

const shape = {
  cli: 'shell tree [path]',
  summary: 'Print a directory as a tree',
  operation: 'shellFileTree',
} satisfies OperationShape

export const command = operationCommand(shape, async ({ io, settings, ask }) => {
  const tree = await ask()
  if (settings.json) return print(io, JSON.stringify(tree))
  print(io, tree.path)
  for (const line of linesOf(tree.root, '')) print(io, line)
  if (tree.truncated) note(io, 'the tree is truncated: raise --max-depth or --max-entries')
})

function* linesOf({ children = [], children_omitted }: TreeNode, indent: string): Generator<string> {
  for (const [at, child] of children.entries()) {
    const isLast = at === children.length - 1 && !children_omitted
    yield `${indent}${isLast ? '└── ' : '├── '}${labelOf(child)}`
    yield* linesOf(child, `${indent}${isLast ? '    ' : '│   '}`)
  }
  if (children_omitted) yield `${indent}└── …`
}

const endings: Partial<Record<TreeNode['type'], string>> = { directory: '/', fifo: '|', socket: '=' }

const labelOf = ({ name, type, symlink_target }: TreeNode): string =>
  JSON.stringify(name).slice(1, -1) + (symlink_target === null ? (endings[type] ?? '') : ` -> ${symlink_target}`)
