/** The path if it stays on this server, else the front page. URL parsers read "/.//host/" as "//host/". */
export function localPath(next, origin) {
  if (!/^\/(?![/\\])/.test(next) || !URL.canParse(next, origin)) return "/";
  const way = new URL(next, origin);
  return way.origin === origin && way.pathname + way.search === next ? next : "/";
}
