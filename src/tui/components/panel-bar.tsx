/** The names of a view's panels, with the shown one marked. */
import { Text } from 'ink'

export const PanelBar = <Name extends string>({ panels, shown }: { panels: readonly Name[]; shown: Name }) =>
  panels.map((name) => (
    <Text key={name} bold={name === shown} inverse={name === shown} dimColor={name !== shown}>
      {` ${name} `}
    </Text>
  ))

/** Returns the item after another, or before it with step -1; wraps around at the ends. */
export const cycle = <Item,>(items: readonly Item[], item: Item, step: 1 | -1 = 1): Item =>
  items[(items.indexOf(item) + step + items.length) % items.length]!
