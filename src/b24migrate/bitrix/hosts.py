"""Which hosts belong to a portal: where its secret may go, and where its files may come from."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

# Anyone can register a name under these, so two such names have two owners. The full list of such domains
# (publicsuffix.org) is not part of the standard library; for others `redirect_hosts` says what belongs together.
_SECOND_LEVEL = re.compile(
    r"ac|co|com|edu|firm|gen|go|gob|gouv|gov|gub|id|ind|info|int|ltd|me|mil|msk|my|ne|net|nhs|nic|nom|or|"
    r"org|plc|sch|sld|spb|web"
)
_SHARED = re.compile(
    r"amazonaws\.com|appspot\.com|azure\.com|azurewebsites\.net|beget\.tech|cloudapp\.net|cloudfront\.net|"
    r"cloudpub\.ru|ddns\.net|duckdns\.org|dyndns\.org|fly\.dev|hopto\.org|keenetic\.(?:link|name|pro)|mooo\.com|"
    r"firebaseapp\.com|github\.io|gitlab\.io|herokuapp\.com|myqnapcloud\.com|netlify\.app|ngrok-free\.app|"
    r"ngrok\.app|ngrok\.io|nip\.io|no-ip\.org|pages\.dev|sslip\.io|synology\.me|trycloudflare\.com|"
    r"onrender\.com|run\.app|ts\.net|tw1\.(?:ru|su)|"
    r"vercel\.app|web\.app|windows\.net|workers\.dev|yandexcloud\.net"
)
# names there have several parts below the shared domain: box.westeurope.cloudapp.azure.com
_DEEP = frozenset({"amazonaws.com", "azure.com", "windows.net", "run.app"})
# the endings that the kernel itself names (landing lib/help.php, mobile …/utils/email/src/domains.js)
_DELIVERY = re.compile(
    r"cdn(?:[-.][a-z]{2,3})?\.bitrix24\."
    r"(?:by|cn|com|com\.br|com\.tr|de|es|eu|fr|id|in|io|it|jp|kz|pl|ru|shop|site|ua|uk|vn)"
)
_VENDOR = "bitrix24"  # bitrix24.ru, bitrix24.com, bitrix24.com.br, …: each portal is a customer's own


def host_of(text: str) -> str:
    """The host name in an address or a setting; empty if there is none."""
    try:
        return (urlsplit(text if "//" in text else f"//{text}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def split_address(text: str) -> SplitResult | None:
    """An address taken apart; None when it is not valid, carries a user name, or has characters no address has."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return None
    strange = not text.isprintable() or " " in text or "\\" in text
    return None if strange or parts.username is not None or not parts.hostname else parts


def own_domain(host: str) -> str:
    """The part of a name that one owner registered: `example.co.uk`, `portal.bitrix24.ru`. A name that has none, or an
    address in numbers, is its own."""
    host = host.lower().rstrip(".")
    registered = _registered_domain(host)
    if not registered or registered in _DEEP:
        return host
    size = registered.count(".") + 1 + _is_shared(registered)
    return ".".join(host.split(".")[-size:])


def same_owner(one: str, other: str) -> bool:
    """Whether both names are surely of the same owner."""
    one, other = one.lower().rstrip("."), other.lower().rstrip(".")
    domain = own_domain(one)
    # `bitrix24.ru` or `co.uk` is no portal: names below it have other owners
    return one == other or (domain == own_domain(other) and bool(_registered_domain(one)) and not _is_shared(domain))


def is_vendor_file_host(host: str) -> bool:
    """The vendor's own delivery hosts, as its documentation shows them in links of photos and files:
    cdn-ru.bitrix24.ru, cdn-com.bitrix24.com, cdn.com.bitrix24.com, cdn.bitrix24.site (user-get.md, landing pages). A
    portal may be called `cdnfirm`; and under other endings anyone may register the vendor's name."""
    return _DELIVERY.fullmatch(host.lower().rstrip(".")) is not None


def _registered_domain(host: str) -> str:
    """The last two labels of a name, three if the second-last is generic; empty if there are fewer."""
    labels = host.split(".")
    if _is_number(host) or len(labels) < 2 or not all(labels):
        return ""
    size = 3 if len(labels[-1]) == 2 and _SECOND_LEVEL.fullmatch(labels[-2]) else 2
    return ".".join(labels[-size:])


def _is_shared(registered: str) -> bool:
    labels = registered.split(".")
    bare = len(labels) == 2 and len(labels[1]) == 2 and bool(_SECOND_LEVEL.fullmatch(labels[0]))
    return bare or labels[0] == _VENDOR or bool(_SHARED.fullmatch(registered))


def is_public(address: str) -> bool:
    """Whether an IP address is public: not of this machine, a private network or a cloud service."""
    ip = _ip(address)
    return ip is not None and ip.is_global and not ip.is_multicast and not _is_special(ip)


def is_near(address: str, portal: str) -> bool:
    """Whether an address that is not public is as near as the portal's own: loopback for a portal on this machine, a
    private network for one in it. Link-local addresses are never: cloud services give away keys there."""
    ip, own = _ip(address), _ip(portal)
    if ip is None or own is None or ip.is_link_local or ip.is_multicast or ip.is_unspecified or _is_special(ip):
        return False
    return own.is_loopback if ip.is_loopback else own.is_private and ip.is_private


def _ip(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """With an IPv4 address that is written inside an IPv6 one taken out: 6to4, NAT64, mapped, compatible."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if isinstance(ip, ipaddress.IPv4Address):
        return ip
    inside = ip.ipv4_mapped or ip.sixtofour
    if inside is None and any(ip in one for one in _WITH_IPV4) and int(ip) > 1:  # :: and ::1 are of IPv6 itself
        inside = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return inside or ip


def _is_special(ip: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    return any(ip in one for one in _SPECIAL)


_WITH_IPV4 = [ipaddress.ip_network(one) for one in ("64:ff9b::/96", "::/96", "::ffff:0:0:0/96")]  # NAT64, old forms
# What the library takes for public or for a private network, and is neither: addresses of cloud services that give
# away keys (Azure, AWS over IPv6), of protocols (RFC 6890, 7526, 8215), and of sites (RFC 3879).
_SPECIAL = [
    ipaddress.ip_network(one)
    for one in ("168.63.129.16", "fd00:ec2::254", "192.0.0.0/24", "192.88.99.0/24", "64:ff9b:1::/48", "fec0::/10")
]


def _is_number(host: str) -> bool:
    return _ip(host.strip("[]")) is not None


def is_listed(host: str, hosts: Iterable[str]) -> bool:
    """In a list of the configuration: `files.example` means that host, `.example` every host below it."""
    host = host.lower().rstrip(".")
    return any(host == one or (one.startswith(".") and host.endswith(one)) for one in hosts)
