// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 2
def image = new File(basedir, 'target/gesture-1.0.0.bin').bytes
['left', 'right'].each { name ->
    assert runs[0].findAll(~/(?m)^\[INFO\] $name: flashed and verified ${image.length} bytes/).size() == 1
}
assert runs[0].contains(', 2 probes')

def held = { name -> Arrays.copyOf(new File(basedir, "target/kiln/virtual/${name}.bin").bytes, image.length) }
assert runs[1] =~ /left: flashed and verified/
assert runs[1] =~ /right: failed after [0-9.]+ s: the flash could not be written at 0x080000/
assert runs[1].contains('BUILD FAILURE')
assert Arrays.equals(held('left'), image)
assert !Arrays.equals(held('right'), image)
def attempts = new JsonSlurper().parse(new File(basedir, 'target/kiln/flash.json'))
assert attempts.collect { it.probe + ' ' + it.result } == ['left flashed', 'right flashed', 'left flashed', 'right failed']
return true
