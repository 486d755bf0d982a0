/** A path of this server that means the same however it is read, or the front page: "/.//host/" becomes "//host/". */
export function ownPath(next, origin) {
  if (!/^\/(?![/\\])/.test(next) || !URL.canParse(next, origin)) return "/";
  const way = new URL(next, origin);
  return way.origin === origin && way.pathname + way.search === next ? next : "/";
}
