// SPDX-License-Identifier: Apache-2.0
def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 11

assert runs[0].contains('Model default: ')
assert !(runs[0] =~ /Generating C|Verifying/) : 'a first build has no reason to tell'

assert runs[1].count('Up to date: nothing has changed since the last build') == 1
assert !(runs[1] =~ /Generating|Nothing changed|Verifying|Board mps2/)

assert runs[2].contains("Generating C: spec.compiler.options.optimize changed from 'speed' to 'size'")
assert runs[2] =~ /Rebuilding \d+ of \d+: .*flags changed/
assert runs[2].contains('Verifying: image ')

assert runs[3].contains('Generating C: nothing changed')
assert runs[3].count('Nothing changed:') == 2 : 'objects and image'
assert runs[3].contains("Verifying: spec.image.verify.seed changed from '0' to '7'")

assert runs[2] =~ /Since the last build: flash [-+]/
assert runs[4].contains('Compared with the last build:')
assert new File(basedir, 'target/kiln/diff.html').text.contains('>flash</td>')
assert runs[5].contains('expected at most 1,024 (1K)')

assert runs[6].count('Skipped: kiln.skip is set.') == 7

assert runs[7].contains("optimize changed from 'size' to 'speed'")
assert runs[8].contains('Up to date: nothing has changed since the last build')
assert runs[9].contains("optimize changed from 'speed' to 'size'")
assert runs[10].contains('Generating C: nothing changed')
assert !runs[10].contains('Up to date')
return true
