// SPDX-License-Identifier: Apache-2.0
def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 3

assert runs[0].contains('Nothing to flash: the board mps2-an386 has no flash runner')
assert runs[0].contains('No upload: the project has no distributionManagement')
assert runs[0].indexOf(':flash') < runs[0].indexOf('maven-deploy-plugin')

assert runs[1].contains('Skipped: kiln.flash.skip is set.')
assert !runs[1].contains('No upload:')
assert new File(basedir, 'target/uploaded/com/example/gesture/1.0.0/gesture-1.0.0.elf').isFile()

assert runs[2].contains('NOBODY: no debug probe was found')
assert runs[2].contains('Connect it')
assert !new File(basedir, 'target/not-uploaded').exists()
return true
