/** Texts that a page shows in place of its content. */

const before = '(?:the |your |this |still |now |page |content |data |app |application |is |are |please )*'
const words =
  'loading|please wait|wait|just a moment|one moment|redirecting|initiali[sz]ing|starting|fetching|wird geladen|lädt|laden|bitte warten|chargement|patientez|cargando|espere|caricamento|attendere|carregando|aguarde|загрузка|подождите|読み込み中|加载中|載入中|로딩 ?중?'
const behind =
  '(?:[ ,:;.…·-]*(?:the|your|this|page|content|contents|data|app|application|results?|items?|products?|more|posts?|comments?|please|wait|while|we|load|is|it|being|loaded|moment|a|en cours|por favor|prego|bitte|warten|\\d{1,3} ?%))*'

/** Nothing but a note that the content is still to come. */
const loading = new RegExp(`^${before}(?:${words})${behind}[\\s.…!]*$`, 'iu')

/** A request to switch scripts on. */
export const scriptNotice = /(?:enable|requires?|needs?|turn on|activate|without|switch on|disabled?|aktivier\w|activ\w|habilit\w|включите)[^.]{0,90}javascript|javascript[^.]{0,80}(?:enable|required?|needed|disabled|turned off|not available|aktivier|activ|habilit|erforderlich)/i // prettier-ignore

/** Longest texts that can be nothing but a notice, in characters. */
const longestLoading = 100
export const longestNotice = 300

/** Class names and IDs of elements that are shown while content is loading. */
export const loadingName = /(?:^|[\s_-])(?:skeleton|shimmer|spinner|loader|loading|placeholder-glow|is-loading|preloader)(?:$|[\s_-])/i // prettier-ignore

/** Returns whether a page with this text, white space collapsed, shows a notice instead of its content. */
export function isNotice(text: string): boolean {
  if (text.length > longestNotice) return false
  return (text.length <= longestLoading && loading.test(text)) || scriptNotice.test(text)
}
