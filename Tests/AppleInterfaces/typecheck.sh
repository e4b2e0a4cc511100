#!/bin/bash
# Type-checks, on Linux, the branches of PurchaseSync for Apple's systems against the declarations in this folder, with
# the language settings of Package.swift and warnings as errors. Then it type-checks Example/ as an app outside the
# package. It shows that both compile against these declarations, not that they work. Takes no input, needs no build.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

interfaces=Tests/AppleInterfaces
output=$(mktemp -d)
trap 'rm -rf "$output"' EXIT

# The compiler on Linux does not check availability. So the declarations that every system of the package has are apart
# from the newer ones in Newer/, and only files that ask for a newer system with @available are compiled with the latter.
if grep -nE '@available\(iOS (1[7-9]|16\.[1-9]|[2-9][0-9])|macOS (1[4-9]|13\.[1-9]|[2-9][0-9])' "$interfaces"/*.swiftinterface |
  grep -v '^[^:]*:[0-9]*: *//'; then
  echo 'declared in a newer system than iOS 16 or macOS 13: belongs to Newer/'
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
# Those that every system of the package can run; those that ask for a newer one with a line `@available(iOS …`.
for_all() { swift_files "$1" | xargs grep -LE '^ *@available\(iOS ' || true; }
newer() { swift_files "$1" | xargs grep -lE '^ *@available\(iOS ' || true; }

# module FOLDER NAME FLAGS… FILES…: compiles a module of the package.
module() {
  local folder=$1 name=$2
  shift 2
  swiftc "${settings[@]}" -emit-module -whole-module-optimization -module-name "$name" -parse-as-library \
    -module-cache-path "$output/cache" -emit-module-path "$folder/$name.swiftmodule" \
    "${sqlite[@]}" -I "$output" "$@"
}

# interfaces FOLDER NAME…: compiles Apple's modules, with the newer declarations if there are copies in FOLDER.
interfaces() {
  local folder=$1 name
  shift
  for name in "$@"; do
    swiftc -frontend -compile-module-from-interface "$folder/$name.swiftinterface" -module-name "$name" -I "$folder" \
      -module-cache-path "$output/cache-$(basename "$folder")" -o "$folder/$name.swiftmodule"
  done
}

# app FOLDER FILES…: an app outside of the package: no package name, none of this package's settings.
app() {
  local folder=$1
  shift
  swiftc -swift-version 6 -warnings-as-errors -typecheck -whole-module-optimization -parse-as-library -module-name Example \
    -module-cache-path "$output/cache" "${sqlite[@]}" -I "$output" -I "$folder" "$@"
}

mkdir "$output/old" "$output/new"
cp "$interfaces"/*.swiftinterface "$output/old"
cp "$interfaces"/*.swiftinterface "$output/new"
for file in "$interfaces"/Newer/*.swiftinterface; do
  cat "$file" >>"$output/new/$(basename "$file")"
done
interfaces "$output/old" StoreKit Security Network SwiftUI os CryptoKit
# Files for UIKit ask for a newer system. Without its module, the others are compiled as on macOS.
interfaces "$output/new" UIKit StoreKit Security Network SwiftUI os CryptoKit StoreKitTest

# Only imported here: the build checks their function bodies.
for name in PurchaseSQLite PurchaseQueue AppStoreReceipts; do
  # shellcheck disable=SC2046
  module "$output" "$name" -experimental-skip-non-inlinable-function-bodies $(swift_files "Sources/$name")
done
# With -I old or new, `canImport(StoreKit)` and its like hold. Foundation.swift has what Linux lacks of Foundation.
# shellcheck disable=SC2046
module "$output/old" PurchaseSync -I "$output/old" "$interfaces/Foundation.swift" $(for_all Sources/PurchaseSync)
# shellcheck disable=SC2046
app "$output/old" $(for_all "$interfaces/Example")
# shellcheck disable=SC2046
module "$output/new" PurchaseSync -I "$output/new" "$interfaces/Foundation.swift" $(swift_files Sources/PurchaseSync)
# shellcheck disable=SC2046
app "$output/new" $(newer "$interfaces/Example")
# With the settings of a test target; Testing and its macros are the toolchain's.
# shellcheck disable=SC2046
swiftc "${settings[@]}" -typecheck -whole-module-optimization -parse-as-library -module-name StoreKitTests \
  -module-cache-path "$output/cache" "${sqlite[@]}" -I "$output" -I "$output/new" $(swift_files Tests/StoreKitTests)

echo "PurchaseSync, apps and tests that use it compile against the declarations of Apple's modules"
