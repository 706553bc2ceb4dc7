#!/usr/bin/env bash
# Makes the package that can be published, into a folder; publishes nothing. Usage: .ci/release.sh FOLDER [TAG OWNER/NAME]
# package.json is private, so that `npm publish` refuses the tree. The package made here is not: it is what .ci/package.sh tries and
# .github/workflows/release.yml publishes. With a tag, the tag must be the version, with its entry in CHANGELOG.md, on a clean tree.
set -euo pipefail
mkdir -p "$1"
out=$(cd "$1" && pwd)
tag=${2:-}
repository=${3:-}
cd "$(dirname "$0")/.."
version=$(node -p "require('./package.json').version")
if [[ -n $tag ]]; then
  [[ $tag == "v$version" ]] || { echo "tag $tag: package.json has version $version; tag that version with npm version"; exit 1; }
  grep -qF "## [$version] - " CHANGELOG.md || { echo "CHANGELOG.md: no entry \"## [$version] - DATE\"; move the lines of Unreleased there"; exit 1; }
  ! grep -qF 'No release has been published yet.' docs/upgrading.md || { echo 'docs/upgrading.md: remove "No release has been published yet."'; exit 1; }
  [[ $repository =~ ^[A-Za-z0-9-]+/[A-Za-z0-9._-]+$ ]] || { echo "repository \"$repository\": expected OWNER/NAME, which provenance names"; exit 1; }
  [[ -z $(git status --porcelain) ]] || { echo 'the tree has changes that are not committed:'; git status --short; exit 1; }
fi

npm run --silent build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packed=$(npm pack --silent --ignore-scripts --pack-destination "$work")
tar -xzf "$work/$packed" -C "$work"
# Pages for developers are not in the package: links to them lead to the repository.
node config/image/packedLinks.mjs "$work/package" "$repository" "$tag"
(
  cd "$work/package"
  npm pkg delete private
  # Provenance holds only for the repository that the package names.
  [[ -z $repository ]] || npm pkg set repository.type=git "repository.url=git+https://github.com/$repository.git"
  npm pack --silent --ignore-scripts --pack-destination "$out"
)
