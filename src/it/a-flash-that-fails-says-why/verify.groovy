// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def runs = new File(basedir, 'build.log').text.split('Scanning for projects')[1..-1]
assert runs.size() == 6
assert runs[0] =~ /healthy: flashed and verified [0-9]+ bytes/

def attempts = new JsonSlurper().parse(new File(basedir, 'target/kiln/flash.json'))
def failures = attempts.findAll { it.result == 'failed' }.collectEntries { [(it.probe): it.failure] }
def notBootable = 'the board is not bootable now, the next flash repairs it'
// What each failure is called, what the build says of it, whether the old image is gone by then, and what helps.
def expected = [
    dark    : ['no-target', 'the probe cannot reach a chip', false, 'Check power, ground and the debug cable'],
    relative: ['wrong-chip', 'its id at 0xe0042000 reads 0x10006421', false, 'choose it with kiln.board'],
    stranger: ['wrong-chip', '0x3ba00477', false, 'choose it with kiln.board'],
    locked  : ['locked', 'the block at 0x08000000 is protected against writing', false, 'the vendor\'s tool'],
    secret  : ['locked', 'it is protected against reading', false, 'the vendor\'s tool'],
    worn    : ['write-error', 'the flash could not be written at 0x080000', true, 'Check the supply voltage'],
    flipped : ['verify-mismatch', 'the device\'s content differs from the image at 0x08000123', true, 'with a slower clock'],
    cut     : ['probe-lost', 'the connection to the probe broke', true, 'Look at the cable and the hub'],
]
expected.each { board, said ->
    def (kind, text, begun, remedy) = said
    assert failures[board].startsWith(kind + ': ') : board
    assert failures[board].contains(text) : board
    assert failures[board].endsWith(notBootable) == begun : board
    assert runs[0].readLines().any { it.contains("$board: failed after ") && it.contains(text) } : board
    assert runs[0].readLines().any { it.contains("$board: ") && it.contains(text) && it.contains(remedy) } : board
}
assert runs[0].contains('8 problems')

assert runs[1].contains('the program did not finish in time and was killed: after 3 s')
assert runs[1].contains('kiln.flash.timeout')
assert runs[2].contains("OpenOCD is missing: no program 'no-such-openocd' on the PATH. Install it (apt-get install openocd)")
assert runs[3].contains('this version of OpenOCD lacks a script that the board names: target/stm32z9.cfg (Open On-Chip Debugger')
assert runs[3].contains('Install a newer OpenOCD')
assert runs[4].contains('NOBODY: no debug probe was found')
assert runs[5].contains('the image does not lie within the chip\'s flash at 0x08200000')
assert runs[5].contains('Correct the memories in board.yaml')
assert runs[1..5].every { it.contains('BUILD FAILURE') && !it.contains(notBootable) }
return true
