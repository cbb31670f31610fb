# Keys and the configuration to begin with, for Deploy/up and Deploy/setup. Sourced, not run.
# shellcheck shell=bash

random_token() { openssl rand -hex 32; }
sha256() { printf %s "$1" | sha256sum | cut -d' ' -f1; }

# Private keys of two ad networks and two of an app, where they are absent, in the directory $1.
make_keys() {
  mkdir -p "$1"
  local key
  for key in example123.pem example-adattributionkit.pem; do
    [ -s "$1/$key" ] || openssl ecparam -name prime256v1 -genkey -noout -out "$1/$key"
  done
  for key in SubscriptionKey.p8 OfferKey.p8; do
    [ -s "$1/$key" ] || openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1/$key"
  done
  chmod 400 "$1"/*
}

# The ad networks of the keys in $1, a path as the configuration names it.
configured_networks() {
  cat <<YAML
adNetworks:
  - id: example123.skadnetwork
    keys:
      - { id: "dev-1", path: $1/example123.pem, state: active }
  - id: example123.adattributionkit
    keys:
      - { id: "dev-2", path: $1/example-adattributionkit.pem, state: active }
YAML
}

# What differs where the simulator plays the App Store, whose root certificate $1 is.
configured_simulator() {
  cat <<YAML
appStore:
  rootCertificates: [$1]
  strictCertificates: true
  gapPatience: 3s                     # production waits a quarter of an hour for stragglers
  silenceSweep: 3s                    # production looks every half minute
migrations:
  unknownPatience: 3s                 # production looks for a quarter of an hour whether Apple knows a purchase
YAML
}

# An app with keys in $1 and the meanings of its conversion values, and names for what events refer to by number.
configured_apps() {
  cat <<YAML
apps:
  - bundleId: com.example.app
    appAppleId: 525463029
    environments: [Production, Sandbox]
    appStoreServer: { issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKey: $1/SubscriptionKey.p8 }
    offers: { keyId: 2X9R4HXF35, privateKey: $1/OfferKey.p8 }
    recovery: { schedule: 1h, lookback: 24h }
    consentRouting: { strategy: default }
    # What subscribers see who may be about to cancel. The messages have to be uploaded and approved: Documentation/retention-messaging.md.
    retention:
      rules:
        - name: offer
          when: { states: [active, active-not-renewing, grace-period, billing-retry] }
          answers:
            - promotionalOffer: { message: 2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0001, offer: stay, signature: V2 }
            - message: { de: 2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0003, "*": 2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0002 }
        - name: everybody
          answers:
            - message: { de: 2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0003, "*": 2c9a6a1e-6a0e-4c63-9d54-5f1b6f1f0002 }
    conversionValues:
      - version: "1"
        effectiveFrom: "2024-01-01T00:00:00Z"
        fine:
          - { values: 0, event: install }
          - { values: 1-20, event: purchase, revenue: { min: 0.99, max: 9.99, currency: USD } }
        coarse:
          - { value: high, event: kept }
      - version: "2"
        effectiveFrom: "$(date -u -d '10 days ago' +%Y-%m-%dT%H:%M:%SZ)"
        fine:
          - { values: 0, event: install }
          - { values: 1-10, event: purchase, revenue: { min: 0.99, max: 9.99, currency: USD } }
          - { values: 11-20, event: trial }
        coarse:
          - { value: high, event: kept }
sourceIdentifiers:
  example123.skadnetwork:
    campaigns: { "39": spring }
    adGroups: { "239": women }
    creatives: { "5239": video-a }
retention:
  messagesRefresh: 2s
adServices:
  names:
    campaigns: { "542370539": Spring }
    adGroups: { "542317095": Women }
YAML
}
