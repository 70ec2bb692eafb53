/** The input line for browser commands, with a completion hint below. */
import { Box, Text } from 'ink'
import { useMemo } from 'react'
import { completeLine, type KnownElement } from '../complete.ts'
import { useAppContext } from '../hooks/app-context.ts'
import { useEditor } from '../hooks/use-editor.ts'
import { cut } from '../terminal/plain.ts'
import { EditedText } from './prompt.tsx'

interface CommandLineProps {
  readonly width: number
  readonly active: boolean
  readonly elements: readonly KnownElement[]
  readonly history: readonly string[]
  /** Text before the prompt, such as the mark of a recording. */
  readonly mark?: string
  readonly onSubmit: (line: string) => void
  readonly onLeave: () => void
}

export function CommandLine(props: CommandLineProps) {
  const { width, active, elements, history, mark = '', onSubmit, onLeave } = props
  const { host, theme } = useAppContext()
  const complete = (before: string) => completeLine(before, host.manifest.commands, elements)
  const line = useEditor({
    title: 'Command line',
    active,
    history,
    complete: (before) => complete(before).text,
    onSubmit: (text) => {
      if (text.trim() === '') return
      line.set('')
      onSubmit(text.trim())
    },
    onCancel: onLeave,
  })
  const before = line.text.slice(0, line.at)
  const found = useMemo(() => (active ? complete(before) : undefined), [active, before, elements])
  const ghost = before !== '' && found?.text?.startsWith(before) ? found.text.slice(before.length).trimEnd() : ''
  const hint = found?.hint ?? 'press i to type a command'
  return (
    <Box flexDirection="column" width={width} height={2} overflow="hidden">
      <Text wrap="truncate">
        <Text color={theme.bad}>{mark}</Text>
        <Text color={theme.accent} bold={active}>
          {'> '}
        </Text>
        <EditedText text={line.text} at={line.at} width={width - 2 - mark.length} isActive={active} ghost={ghost} />
      </Text>
      <Text dimColor wrap="truncate">
        {`  ${cut(hint, width - 3)}`}
      </Text>
    </Box>
  )
}
