#!/bin/bash
# Type-checks the branches of PurchaseSync for Apple's systems, on Linux: against the declarations in this folder, with
# the language settings of Package.swift and warnings as errors; then Example/, as an app outside the package would use
# them. It shows that they compile against these declarations, not that they work. Takes no input, and needs no build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

interfaces=Tests/AppleInterfaces
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

# What iOS 16 and macOS 13 don't have must not be among the declarations: the compiler on Linux would let it be used.
if grep -nE '@available\(iOS (1[7-9]|[2-9][0-9])|macOS (1[4-9]|[2-9][0-9])' "$interfaces"/*.swiftinterface |
  grep -v '^[^:]*:[0-9]*: *//'; then
  echo 'declared in a newer system than iOS 16 or macOS 13'
  exit 1
fi

settings=(-swift-version 6 -warnings-as-errors -package-name purchase_sync)
while read -r feature; do
  settings+=(-enable-upcoming-feature "$feature")
done < <(sed -nE 's/^ *\.enableUpcomingFeature\("(.*)"\),$/\1/p' Package.swift)
if ((${#settings[@]} < 8)); then
  echo 'Package.swift: its upcoming features were not found'
  exit 1
fi
grep -q '^ *\.strictMemorySafety(),$' Package.swift && settings+=(-strict-memory-safety)

# Of no interest here, but whoever imports the modules above it has to find it.
sqlite=(-Xcc -fmodule-map-file=Sources/CPurchaseSQLite/module.modulemap)

swift_files() { find "$1" -name '*.swift' | sort; }

# module NAME FLAGS…: a module from Sources, into $output.
module() {
  local name=$1
  shift
  # shellcheck disable=SC2046
  swiftc "${settings[@]}" "$@" -emit-module -module-name "$name" -parse-as-library \
    -module-cache-path "$output/cache" -emit-module-path "$output/$name.swiftmodule" \
    "${sqlite[@]}" -I "$output" $(swift_files "Sources/$name")
}

mkdir "$output/apple"
for name in StoreKit Security; do
  swiftc -frontend -compile-module-from-interface "$interfaces/$name.swiftinterface" -module-name "$name" \
    -module-cache-path "$output/cache" -o "$output/apple/$name.swiftmodule"
done

# Their bodies are checked by the build: here they are only imported.
for name in PurchaseSQLite PurchaseQueue AppStoreReceipts; do
  module "$name" -experimental-skip-non-inlinable-function-bodies
done
# With -I apple: `canImport(StoreKit)` and `canImport(Security)` hold.
module PurchaseSync -I "$output/apple"

# Somebody else's app: no package name, none of this package's settings.
# shellcheck disable=SC2046
swiftc -swift-version 6 -warnings-as-errors -typecheck -parse-as-library -module-name Example \
  -module-cache-path "$output/cache" "${sqlite[@]}" -I "$output" -I "$output/apple" \
  $(swift_files "$interfaces/Example")

echo "PurchaseSync and an app that uses it compile against the declarations of StoreKit and Security"
