/** The manual of "kettle", an invented program for tea kitchens: five commands for each of ten things, and ten topics. */

export interface Entry {
  readonly slug: string
  readonly title: string
  readonly section: string
  readonly summary: string
  /** Paragraphs. */
  readonly text: readonly string[]
  readonly usage?: string
  readonly options?: readonly (readonly [flag: string, meaning: string])[]
  readonly output?: string
  readonly related: readonly string[]
}

/** thing | plural | what it is | option: meaning; … | an example */
const things = `
leaf | leaves | a tea in the pantry | --origin: where it grows; --weight: grams in stock; --steep: seconds that it needs | sencha
water | waters | a water with its hardness | --hardness: degrees of German hardness; --source: tap, bottle or filter; --price: cents per litre | spring
boiler | boilers | a boiler that kettle controls | --address: its address in the network; --litres: what it holds; --limit: highest temperature in degrees | kitchen
cup | cups | a cup that customers may use | --volume: millilitres; --material: porcelain, glass or clay; --owner: who brought it | blue
recipe | recipes | a way to brew a leaf | --leaf: the leaf; --temperature: degrees of the water; --infusions: how often the leaf is used | morning
timer | timers | a clock that rings when a tea is ready | --seconds: how long it runs; --sound: bell, gong or none; --repeat: how often it rings | gong
shelf | shelves | a place where leaves are stored | --room: where it is; --humidity: highest humidity in percent; --dark: whether light is kept away | north
sensor | sensors | a thermometer or a scale | --kind: temperature or weight; --interval: seconds between two readings; --unit: how readings are shown | lid
guest | guests | a person who drinks tea | --likes: kinds of tea; --allergies: what must not be served; --since: date of the first visit | grace
alarm | alarms | a message when a reading is out of range | --sensor: which readings it watches; --above: upper limit; --below: lower limit | too-hot
`

const topics = `
start | Get started | Install kettle, add a boiler and brew a first cup. | Install it with the package manager of your system, and start the service on the machine that is connected to the boilers. | Add the first boiler with \`kettle boiler add\`. The service looks for it every ten seconds and reports it as ready. | Then add a leaf and a recipe. From now on one command brews a cup.
concepts | Concepts | Things, readings and events, and how they belong together. | Everything that kettle knows is a thing with a name: a leaf, a boiler, a guest. Names are unique per kind. | Sensors produce readings, which are kept for thirty days. | Alarms turn readings into events, and events reach guests.
names | Names | Which names things can have, and how to write them. | A name has up to forty letters, digits and hyphens, and starts with a letter. | Names are compared without regard to case. The case is kept for display. | A thing that was removed gives its name back after a day.
units | Units | Temperatures, weights and times in commands and files. | Temperatures are degrees Celsius, unless the unit F follows. Weights are grams, volumes millilitres. | Times are seconds. \`2m\` and \`1h\` are accepted, too. | Readings are stored with one decimal place.
files | Files | Where settings and readings are stored. | Settings are in \`/etc/kettle/kettle.yaml\`. The service reads them at its start and after a SIGHUP. | Readings are in \`/var/lib/kettle\`, one file per day. | Both can be copied while the service runs.
output | Output | Tables for people and JSON for programs. | Commands print tables. With \`--json\` they print one JSON value with the same content. | Errors go to the standard error with a code that does not change between versions. | Colours are left out when the output is no terminal.
security | Security | Who may use a boiler, and how it is protected. | Every user has a role: guest, host or owner. Only owners may add boilers. | Boilers refuse temperatures above their limit, whatever the service asks for. | The connection between the service and a boiler is encrypted.
errors | Errors | Codes of errors, their causes and what to do. | E10 means that a boiler does not answer: check its plug. E11 means that it has too little water. | E20 means that a leaf is used up. E21 means that it is older than two years. | E30 means that a sensor sends values which cannot be true.
upgrade | Upgrade | What changes between versions, and how to upgrade. | Stop the service, install the new version and start it again. Boilers keep working on their own meanwhile. | Settings of older versions are converted, and the old file is kept beside the new one. | Downgrades are possible within one minor version.
questions | Questions | What people ask most. | Can it make coffee? No. | Does it work without a network? The service and its boilers do, messages to guests wait. | How much power does the service need? Two watts on a small computer.
`

const rowsOf = (table: string) =>
  table
    .trim()
    .split('\n')
    .map((row) => row.split(' | '))

type Thing = { name: string; plural: string; what: string; options: (readonly [string, string])[]; example: string }

const verbs: readonly ((thing: Thing) => Omit<Entry, 'slug' | 'section'>)[] = [
  ({ name, plural, what, example }) => ({
    title: `${name} list`,
    summary: `Lists ${plural}, one per line.`,
    text: [`Prints every ${name}, ${what}, in the order of their names. A filter shows only names that contain it.`],
    usage: `kettle ${name} list [FILTER]`,
    options: [
      ['--json', 'print one JSON array'],
      ['--limit', `most ${plural} that are listed; 100 by default`],
    ],
    output: `NAME      STATE\n${example.padEnd(10)}ready`,
    related: [`${name}-show`, 'output'],
  }),
  ({ name, what, options, example }) => ({
    title: `${name} add`,
    summary: `Adds ${what}.`,
    text: [`The name must be free. Options that are left out get the values of the settings file.`],
    usage: `kettle ${name} add NAME [OPTIONS]`,
    options,
    output: `${name} ${example} was added`,
    related: [`${name}-change`, 'names'],
  }),
  ({ name, what, options, example }) => ({
    title: `${name} show`,
    summary: `Shows ${what} with all its properties.`,
    text: [`Properties without a value are shown as a hyphen. Values that differ from the settings file are marked.`],
    usage: `kettle ${name} show NAME`,
    options: [
      ['--json', 'print one JSON object'],
      ['--history', 'also show the last ten changes'],
    ],
    output: [`name      ${example}`, ...options.map(([flag]) => `${flag.slice(2).padEnd(10)}-`)].join('\n'),
    related: [`${name}-list`, 'units'],
  }),
  ({ name, what, options, example }) => ({
    title: `${name} change`,
    summary: `Changes properties of ${what}.`,
    text: [`Only the given options change. The change takes effect at once, and is recorded with its author.`],
    usage: `kettle ${name} change NAME [OPTIONS]`,
    options: [...options, ['--undo', 'take back the last change']],
    output: `${name} ${example} was changed`,
    related: [`${name}-show`, 'security'],
  }),
  ({ name, what, example }) => ({
    title: `${name} remove`,
    summary: `Removes ${what}.`,
    text: [`What still refers to it is listed, and nothing is removed unless \`--force\` is given.`],
    usage: `kettle ${name} remove NAME`,
    options: [
      ['--force', 'remove it even if others refer to it'],
      ['--keep-readings', 'keep its readings for thirty days'],
    ],
    output: `${name} ${example} was removed`,
    related: [`${name}-add`, 'errors'],
  }),
]

const topicEntries: readonly Entry[] = rowsOf(topics).map(([slug, title, summary, ...text], at, all) => ({
  slug: slug!,
  title: title!,
  section: 'Topics',
  summary: summary!,
  text,
  related: [all[(at + 1) % all.length]![0]!, 'leaf-list'],
}))

const commandEntries: readonly Entry[] = rowsOf(things).flatMap(([name, plural, what, options, example]) => {
  const pairs = options!.split('; ').map((option) => option.split(': ') as [string, string])
  const thing: Thing = { name: name!, plural: plural!, what: what!, options: pairs, example: example! }
  return verbs.map((describe) => {
    const entry = describe(thing)
    return { ...entry, slug: entry.title.replace(' ', '-'), section: plural![0]!.toUpperCase() + plural!.slice(1) }
  })
})

export const manual: readonly Entry[] = [...topicEntries, ...commandEntries]
