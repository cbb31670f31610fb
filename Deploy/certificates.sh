# The internal authority and the certificates that it issues, for Deploy/setup, whose variables and functions it uses. Sourced, not run.
# shellcheck shell=bash

make_authority() {
  local authority=$DATA/authority
  if absent "$authority/certificate.pem"; then
    openssl ecparam -name prime256v1 -genkey -noout -out "$WORK/authority.pem"
    openssl req -x509 -new -key "$WORK/authority.pem" -sha256 -days 3650 -subj "/CN=attribution internal" \
      -addext basicConstraints=critical,CA:TRUE,pathlen:0 -addext keyUsage=critical,keyCertSign,cRLSign -out "$WORK/authority.crt"
    put "$authority/key.pem" 0400 0:0 <"$WORK/authority.pem"
    put "$authority/certificate.pem" 0444 0:0 <"$WORK/authority.crt"
  fi
  put "$DATA/ca.pem" 0444 "$OWNER" <"$authority/certificate.pem"
}

# A key and a certificate in $WORK, for servers and clients alike. A service goes by the URI, a name that nobody's address can be.
issue() { # name, whether a URI names it
  local names="DNS:$1,DNS:localhost,IP:127.0.0.1"
  [ "$2" = no-uri ] || names+=",URI:$TRUST_DOMAIN/$1"
  openssl ecparam -name prime256v1 -genkey -noout -out "$WORK/key.pem"
  openssl req -new -key "$WORK/key.pem" -subj "/CN=$1" -out "$WORK/request.pem"
  openssl x509 -req -in "$WORK/request.pem" -CA "$DATA/authority/certificate.pem" -CAkey "$DATA/authority/key.pem" -sha256 \
    -set_serial "0x$(openssl rand -hex 16 | sed 's/^./5/')" -days "$CERTIFICATE_DAYS" -out "$WORK/certificate.pem" 2>/dev/null \
    -extfile <(printf '%s\n' "subjectAltName=$names" basicConstraints=critical,CA:FALSE keyUsage=critical,digitalSignature \
      extendedKeyUsage=serverAuth,clientAuth)
}

# Certificate and key are links through `current`, which is switched at once: nobody finds the one without the other.
certificate_for() { # name, directory, owner, whether a URI names it
  local place=${2#"$DATA"/} fresh
  if [ "$ACTION" != certificates ] && [ -s "$2/certificate.pem" ]; then
    KEPT+=("$place/certificate.pem")
    openssl x509 -in "$2/certificate.pem" -noout -checkend $((30 * 86400)) >/dev/null ||
      say "warning: $place/certificate.pem ends within thirty days: run Deploy/compose/rotate-certificates"
    return 0
  fi
  MADE+=("$place/certificate.pem")
  issue "$1" "$4"
  fresh=issued-$(date -u +%Y%m%dT%H%M%S%N)
  directory "$2/$fresh" 0700 "$3"
  put "$2/$fresh/key.pem" 0400 "$3" <"$WORK/key.pem"
  put "$2/$fresh/certificate.pem" 0444 "$3" <"$WORK/certificate.pem"
  put "$2/ca.pem" 0444 "$3" <"$DATA/authority/certificate.pem"
  # HAProxy reads a certificate and its key from one file.
  [ "$1" != balancer ] || cat "$WORK/certificate.pem" "$WORK/key.pem" | put "$2/balancer.pem" 0400 "$3"
  link "$fresh" "$2/current" "$3"
  link current/key.pem "$2/key.pem" "$3"
  link current/certificate.pem "$2/certificate.pem" "$3"
  # Those before the last stay until the next time, for whoever is reading them.
  find "$2" -maxdepth 1 -name 'issued-*' | sort | head -n -2 | xargs -r rm -r
}

# A link that takes the place of another at once.
link() { # target, path, owner
  ln -s "$1" "$2.part"
  chown -h "$3" "$2.part"
  mv -fT "$2.part" "$2"
}

make_certificates() {
  local name
  for name in "${SERVICES[@]}"; do certificate_for "$name" "$DATA/tls/$name" "$SERVICE" uri; done
  certificate_for prometheus "$DATA/tls/prometheus" "$PROMETHEUS" uri
  certificate_for redis "$DATA/redis" "$REDIS" no-uri
  # It passes on calls of many: were it named, every call would count as its own.
  certificate_for balancer "$DATA/balancer" "$BALANCER" no-uri
  certificate_for developer "$DATA/caller" "$OWNER" uri
}
