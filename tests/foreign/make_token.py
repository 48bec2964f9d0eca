#!/usr/bin/env python3
"""Signs a token with PyJWT, so that a library from elsewhere says what a login assertion looks like.

Reads one JSON object from standard input: `seed_hex` (64 hexadecimal digits, the Ed25519 seed), `claims` (an object)
and, if wanted, `headers` (an object). Prints the token in compact form. Where PyJWT or what it signs with is missing,
it prints nothing but an error and ends with exit code 3.
"""

import json
import sys

try:
    import jwt
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
except ImportError as error:
    print(f"error: {error}; install PyJWT[crypto]", file=sys.stderr)
    sys.exit(3)


def main() -> None:
    wanted = json.load(sys.stdin)
    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(wanted["seed_hex"]))
    print(jwt.encode(wanted["claims"], key, algorithm="EdDSA", headers=wanted.get("headers")))


main()
