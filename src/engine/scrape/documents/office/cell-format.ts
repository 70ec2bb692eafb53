/** Formats the values of cells as Excel shows them. */
import { format, getFormatDateInfo } from 'numfmt'

/** Formats a value: a number, or a text. */
export type CellFormat = (value: number | string) => string

/** Codes of built-in formats; dates that depend on the language of the machine are in ISO 8601. */
const builtIn: Readonly<Record<number, string>> = {
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '$#,##0;-$#,##0',
  6: '$#,##0;-$#,##0',
  7: '$#,##0.00;-$#,##0.00',
  8: '$#,##0.00;-$#,##0.00',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'yyyy-mm-dd',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'yyyy-mm-dd h:mm',
  31: 'yyyy"年"m"月"d"日"',
  37: '#,##0;-#,##0',
  38: '#,##0;-#,##0',
  39: '#,##0.00;-#,##0.00',
  40: '#,##0.00;-#,##0.00',
  41: '#,##0;-#,##0;"-"',
  42: '$#,##0;-$#,##0;$"-"',
  43: '#,##0.00;-#,##0.00;"-"',
  44: '$#,##0.00;-$#,##0.00;$"-"',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
  59: '0',
  60: '0.00',
  61: '#,##0',
  62: '#,##0.00',
  67: '0%',
  68: '0.00%',
  69: '# ?/?',
  70: '# ??/??',
}

/** Whether a built-in format is a date or a time that depends on the language: Chinese, Japanese, Korean or Thai. */
const isLocalDate = (id: number): boolean => (id >= 27 && id <= 36) || (id >= 50 && id <= 58) || (id >= 71 && id <= 81)

/** Maximum length of a code in Excel. */
const maxCode = 255

/** Days from 1900 to 1904, where the dates of some workbooks begin. */
const days1904 = 1462

/** Returns the format with an ID, with its code unless it is built in. */
export function cellFormat(id: number, code: string | undefined, since1904: boolean): CellFormat {
  const days = since1904 ? days1904 : 0
  const known = code ?? builtIn[id]
  if (known === undefined) return isLocalDate(id) ? numbers((value) => dateOrTime(value + days)) : general
  if (known.length > maxCode || /^(?:general|standard)?$/i.test(known)) return general
  // Excel writes numbers as its own language does, whatever the language of a currency is.
  const plain = known.replaceAll(/\[\$([^\]-]+)-[0-9a-f]+\]/gi, '[$$$1]')
  try {
    const { year, month, day, hours, minutes, seconds } = getFormatDateInfo(plain)
    if (year || month || day || hours || minutes || seconds) {
      const shown =
        year && month && day && isAmbiguous(plain) ? `yyyy-mm-dd${hours ? ` hh:mm${seconds ? ':ss' : ''}` : ''}` : plain
      return numbers((value) => format(shown, value + days))
    }
    return checked(plain)
  } catch {
    return general
  }
}

/** Whether a date is written in digits in an order that depends on the reader, or with half a year or an era. */
function isAmbiguous(code: string): boolean {
  const letters = code.replaceAll(/"[^"]*"|\\.|\[[^\]]*\]/g, '').toLowerCase()
  if (/[ge]|(?:^|[^y])yy?(?:[^y]|$)/.test(letters.replaceAll(/am\/pm/g, ''))) return true
  return !/m{3}|d{3}|a{3}|\P{ASCII}/u.test(letters) && !/\P{ASCII}/u.test(code)
}

const numbers =
  (write: (value: number) => string): CellFormat =>
  (value) =>
    typeof value === 'number' ? write(value) : value

/** Writes a date, a time, or both, depending on which of them the value has. */
function dateOrTime(value: number): string {
  const time = value % 1 === 0 ? '' : 'hh:mm:ss'
  return format([value >= 1 || time === '' ? 'yyyy-mm-dd' : '', time].filter(Boolean).join(' '), value)
}

/** Returns a format for numbers and texts. @throws Error for an invalid code */
function checked(code: string): CellFormat {
  format(code, 1)
  const hasText = /@|;.*;.*;/s.test(code)
  return (value) => {
    if (typeof value === 'string' && !hasText) return value
    return code === '@' ? general(value) : format(code, value)
  }
}

/** Writes a number with the 15 digits that Excel keeps; the others are noise of binary fractions. */
export function general(value: number | string): string {
  return typeof value === 'string' ? value : String(Number(value.toPrecision(15))).toUpperCase()
}
