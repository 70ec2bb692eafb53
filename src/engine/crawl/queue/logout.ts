/** Recognizes links that end the session of a reader, by the names that applications give them. */
import { decodeUrlPart } from '../../../core/net/urls.ts'

/** Names in several languages, without the marks between their words. */
const names = new Set(
  (
    'logout logoff signout signoff endsession killsession destroysession exitsession closesession sessionend ' +
    'sessiondestroy sessionsdestroy abmelden abmeldung ausloggen deconnexion déconnexion sedeconnecter sedéconnecter deconnecter ' +
    'salir cerrarsesion cerrarsesión desconectar desconectarse finalizarsesion disconnetti disconnettiti disconnessione ' +
    'sair terminarsessao terminarsessão encerrarsessao encerrarsessão uitloggen afmelden loggaut loggut logud logaf ' +
    'kirjauduulos wyloguj wylogowanie odhlasit odhlásit odhlaseni odhlášení kijelentkezes kijelentkezés deconectare ' +
    'cikis çıkış cikisyap oturumukapat αποσυνδεση выход выйти вийти вихід 退出 退出登录 登出 注销 ログアウト 로그아웃'
  ).split(' '),
)

/** Words that stand beside the name: `user-logout`, `do_logout`, `logout.action`. */
const beside =
  /^(?:user|member|account|admin|customer|my|do|auth|oauth|sso|saml|site|app|web|session|action|page|now|all)$/

/** Returns whether a link seems to log out. */
export function logsOut({ pathname, searchParams, hash }: URL): boolean {
  const fields = [...searchParams].flat()
  const route = hash.startsWith('#/') ? hash.slice(1).split('/') : []
  const parts = pathname.split('/')
  // Some routes have a segment for each word: `/session/end`, `/log/out`.
  return [...parts, parts.slice(-2).join('-'), ...fields, ...route].some((part) => isName(decodeUrlPart(part)))
}

function isName(text: string): boolean {
  // Some applications have paths and file names in the query, or a namespace as in `Special:UserLogout`.
  const last = text.split(/[/\\:]/).at(-1)!
  const words = last
    .replace(/\.\w{1,5}$/, '')
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[-_.+\s]+/)
    .filter(Boolean)
  const own = words.filter((word) => !beside.test(word))
  return names.has(own.join('')) || names.has(words.join(''))
}
