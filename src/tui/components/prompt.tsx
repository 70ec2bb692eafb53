/** A text input of one line. */
import { Text } from 'ink'
import { useEditor } from '../hooks/use-editor.ts'
import { widthOf } from '../terminal/plain.ts'

export interface PromptProps {
  readonly label: string
  readonly width: number
  readonly initial?: string
  readonly onChange?: (text: string) => void
  readonly onSubmit: (text: string) => void
  readonly onCancel: () => void
}

export function Prompt({ label, width, initial = '', onChange, onSubmit, onCancel }: PromptProps) {
  const line = useEditor({ title: 'Typing', initial, onChange, onSubmit, onCancel })
  return (
    <Text wrap="truncate">
      <Text bold>{label}</Text>
      <EditedText text={line.text} at={line.at} width={width - widthOf(label)} isActive />
    </Text>
  )
}

/** Text with its cursor, scrolled so that the cursor is visible. */
export function EditedText(props: {
  readonly text: string
  readonly at: number
  readonly width: number
  readonly isActive: boolean
  /** Text that a completion would add. */
  readonly ghost?: string
}) {
  const { text, at, width, isActive, ghost = '' } = props
  const from = Math.max(0, at - Math.max(1, width - 2))
  const cursor = text[at] ?? (ghost[0] || ' ')
  const rest = at < text.length ? text.slice(at + 1) : ''
  if (!isActive) return <Text>{text.slice(0, width)}</Text>
  return (
    <>
      <Text>{text.slice(from, at)}</Text>
      <Text inverse>{cursor}</Text>
      <Text>{rest}</Text>
      {at >= text.length && ghost && <Text dimColor>{ghost.slice(1)}</Text>}
    </>
  )
}
