// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 2
assert runs[0].contains('the board is not bootable now, the next flash repairs it')
assert runs[0].contains('BUILD FAILURE')

assert runs[1] =~ /virtual: flashed and verified [0-9]+ bytes/
assert runs[1].contains('Bit-exact on virtual-stm32f405')
def image = new File(basedir, 'target/gesture-1.0.0.bin').bytes
def flash = new File(basedir, 'target/kiln/virtual/virtual.bin').bytes
assert Arrays.equals(Arrays.copyOf(flash, image.length), image)
def attempts = new JsonSlurper().parse(new File(basedir, 'target/kiln/flash.json'))
assert attempts*.result == ['failed', 'flashed']
assert attempts[0].failure.contains('not bootable')
return true
