/** Gauges that are read when the metrics are. */

/** The values of one gauge. */
export interface Reading {
  readonly name: string
  readonly help: string
  readonly label?: string
  /** Values by label; a reading without labels has at most one. */
  readonly values: Readonly<Record<string, number>>
}

export const one = (name: string, help: string, value: number | undefined): Reading => ({
  name,
  help,
  values: value === undefined ? {} : { value },
})

export const by = (label: string, name: string, help: string, values: Reading['values']): Reading => ({
  name,
  help,
  label,
  values,
})
