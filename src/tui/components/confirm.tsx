/** A question that is answered with y or n before anything else. */
import { Text } from 'ink'
import { useTheme } from '../hooks/house.ts'
import { useKeys } from '../hooks/use-keys.ts'

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
      { keys: ['y', 'Y'], does: 'yes', run: onYes },
      { keys: ['n', 'N', 'escape', 'enter', 'q'], does: 'no', run: onNo },
    ],
  })
  return (
    <Text wrap="truncate">
      <Text bold color={theme.notable}>{`${question} `}</Text>
      <Text dimColor>y / n</Text>
    </Text>
  )
}
