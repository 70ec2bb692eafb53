/** Notices that a page shows instead of its content. */

const before = '(?:the |your |this |still |now |page |content |data |app |application |is |are |please )*'
const words =
  'loading|please wait|wait|just a moment|one moment|redirecting|initiali[sz]ing|starting|fetching|wird geladen|lädt|laden|bitte warten|chargement|patientez|cargando|espere|caricamento|attendere|carregando|aguarde|загрузка|подождите|読み込み中|加载中|載入中|로딩 ?중?'
const after =
  '(?:[ ,:;.…·-]*(?:the|your|this|page|content|contents|data|app|application|results?|items?|products?|more|posts?|comments?|please|wait|while|we|load|is|it|being|loaded|moment|a|en cours|por favor|prego|bitte|warten|\\d{1,3} ?%))*'

/** Matches texts that only say that content is loading. */
const loading = new RegExp(`^${before}(?:${words})${after}[\\s.…!]*$`, 'iu')

export const scriptNotice =
  /(?:enable|requires?|needs?|turn on|activate|without|switch on|disabled?|aktivier\w|activ\w|habilit\w|включите)[^.]{0,90}javascript|javascript[^.]{0,80}(?:enable|required?|needed|disabled|turned off|not available|aktivier|activ|habilit|erforderlich)/i

/** Maximum lengths of notices, in characters. */
const maxLoadingChars = 100
export const maxNoticeChars = 300

/** Class names and IDs of elements that are shown while content is loading. */
export const loadingName =
  /(?:^|[\s_-])(?:skeleton|shimmer|spinner|loader|loading|placeholder-glow|is-loading|preloader)(?:$|[\s_-])/i

/** Returns whether a page with this text, white space collapsed, shows a notice instead of its content. */
export function isNotice(text: string): boolean {
  if (text.length > maxNoticeChars) return false
  return (text.length <= maxLoadingChars && loading.test(text)) || scriptNotice.test(text)
}
