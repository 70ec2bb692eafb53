/** `bax shell tree`: a directory and what is beneath it, drawn. */
import type { TreeNode, TreeOutput } from '../../../core/shapes/shell/files.ts'
import { type TerminalCommand } from '../../parse/invocation.ts'
import { note, print } from '../../io.ts'
import { onShell } from '../../shell/on-shell.ts'

export const command: TerminalCommand = {
  run: (invocation) =>
    onShell(invocation, {
      operation: 'shellFileTree',
      async work({ context: { io, settings }, ask }) {
        const tree = (await ask()) as TreeOutput
        if (settings.json) {
          print(io, JSON.stringify(tree))
          return 0
        }
        print(io, tree.path)
        for (const line of linesOf(tree.root, '')) print(io, line)
        if (tree.truncated) note(io, `there is more: --max-depth and --max-entries show it`)
        return 0
      },
    }),
}

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
