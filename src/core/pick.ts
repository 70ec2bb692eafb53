/** Copies fields by name. */

/** Without values that are undefined. */
type Present<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> }

/** Returns these fields of an object, without those that are undefined. */
export const pick = <Fields extends object, Name extends keyof Fields>(
  fields: Fields,
  names: readonly Name[],
): Present<Pick<Fields, Name>> => {
  const pairs = names.map((name) => [name, fields[name]] as const).filter(([, value]) => value !== undefined)
  return Object.fromEntries(pairs) as Present<Pick<Fields, Name>>
}
