// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 2
assert runs[0] =~ /virtual: flashed and verified [0-9]+ bytes/

// The flash holds the image byte for byte, and is erased behind it.
def image = new File(basedir, 'target/gesture-1.0.0.bin').bytes
def flash = new File(basedir, 'target/kiln/virtual/virtual.bin').bytes
assert flash.length == 1 << 20
assert Arrays.equals(Arrays.copyOf(flash, image.length), image)
assert (image.length..<flash.length).every { flash[it] == (byte) 0xff }

assert runs[1].contains('Verification on the board flashes it first (kiln.flash.skip prevents that)')
assert runs[1].contains('Bit-exact on virtual-stm32f405, probe virtual')
assert runs[1].findAll('virtual: holds this image already').size() == 2
assert !runs[1].contains('flashed and verified')
def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.bitExact
assert verify.ranOn == 'virtual-stm32f405, probe virtual: its flash content in qemu-system-arm netduinoplus2'
assert verify.cases*.name.containsAll(['vector_0', 'vector_3', 'random_1'])
def attempts = new JsonSlurper().parse(new File(basedir, 'target/kiln/flash.json'))
assert attempts*.result == ['flashed', 'unchanged', 'unchanged']
assert attempts.every { it.coordinates == 'com.example:gesture:1.0.0' && it.probe == 'virtual' }
return true
