/** A modal question that is answered with y or n. */
import { Text } from 'ink'
import { useKeys, useTheme } from '../hooks/app-context.ts'

interface ConfirmProps {
  readonly question: string
  readonly onYes: () => void
  readonly onNo: () => void
}

export function Confirm({ question, onYes, onNo }: ConfirmProps) {
  const theme = useTheme()
  useKeys('dialog', {
    title: 'Question',
    isModal: true,
    bindings: [
      { keys: ['y', 'Y'], label: 'yes', run: onYes },
      { keys: ['n', 'N', 'escape', 'enter', 'q'], label: 'no', run: onNo },
    ],
  })
  return (
    <Text wrap="truncate">
      <Text bold color={theme.notable}>{`${question} `}</Text>
      <Text dimColor>y / n</Text>
    </Text>
  )
}
