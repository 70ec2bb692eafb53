/** What a screen is drawn in. */
export interface ScreenProps {
  readonly width: number
  readonly height: number
  /** Something stands over it: pictures are taken away, and keys go elsewhere. */
  readonly covered: boolean
}
