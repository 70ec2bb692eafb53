/** Size and visibility of a screen. */
export interface ScreenProps {
  readonly width: number
  readonly height: number
  /** Whether something covers the screen: images are hidden, and keys go to the cover. */
  readonly covered: boolean
}

/** The list of a screen. */
export interface ListProps<Item> extends ScreenProps {
  readonly onOpen: (item: Item) => void
}

/** The view of an item that was opened from the list. */
export interface ViewProps<Item> extends ScreenProps {
  readonly item: Item
  readonly onClose: () => void
}
