#!/bin/bash
# Type-checks, on Linux, the branches of PurchaseSync for Apple's systems against the declarations in this folder, with
# the language settings of Package.swift and warnings as errors. Then it type-checks Example/ as an app outside the
# package. It shows that both compile against these declarations, not that they work. Takes no input, needs no build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

interfaces=Tests/AppleInterfaces
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

# No declaration may be newer than iOS 16 and macOS 13: the compiler on Linux does not check availability.
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

# The modules above import it, so the compiler has to find it.
sqlite=(-Xcc -fmodule-map-file=Sources/CPurchaseSQLite/module.modulemap)

swift_files() { find "$1" -name '*.swift' | sort; }

# module NAME FLAGS…: compiles a module of Sources into $output.
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

# Only imported here: the build checks their function bodies.
for name in PurchaseSQLite PurchaseQueue AppStoreReceipts; do
  module "$name" -experimental-skip-non-inlinable-function-bodies
done
# With -I apple: `canImport(StoreKit)` and `canImport(Security)` hold.
module PurchaseSync -I "$output/apple"

# An app outside the package: no package name, none of this package's settings.
# shellcheck disable=SC2046
swiftc -swift-version 6 -warnings-as-errors -typecheck -parse-as-library -module-name Example \
  -module-cache-path "$output/cache" "${sqlite[@]}" -I "$output" -I "$output/apple" \
  $(swift_files "$interfaces/Example")

echo "PurchaseSync and an app that uses it compile against the declarations of StoreKit and Security"
