/** The small letters outside ASCII of languages in Latin script, and the legacy encodings that have them. */

/** French, German, Spanish, Italian, Portuguese, Nordic ones, Dutch, Estonian; then all Romance and all Nordic ones. */
const western =
  'àâæçéèêëîïôœùûüÿ äöüß áéíñóúüªº àèéìîíòóù àáâãçéêíóôõúü åäöéü æøåéèêóòôäöü áðéíóúýþæö éëïóöüèáàç äõöüšž àâãæçáéèêëíìîïñóòôõœùúûüÿªº äöüßåæøéèëïóò'
/** Polish, Czech, Slovak, Hungarian, Romanian, Slovene and Croatian. */
const central = 'ąćęłńóśźż áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž áéíóöőúüű ăâîşţéá čćđšžé'

/** Alphabets by encoding. */
export const alphabets: readonly (readonly [encoding: string, languages: readonly string[]])[] = Object.entries({
  'windows-1252': western,
  'windows-1250': central,
  'iso-8859-2': central,
  'windows-1254': 'çğıöşüâîûi',
  'windows-1257': 'ąčęėįšųūž āčēģīķļņšūž',
}).map(([encoding, languages]) => [encoding, languages.split(' ')])
