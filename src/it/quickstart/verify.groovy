// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def target = new File(basedir, 'target')
def log = new File(basedir, 'build.log').text

['quickstart-1.0.0.elf', 'quickstart-1.0.0.bin', 'quickstart-1.0.0.hex', 'quickstart-1.0.0.map', 'quickstart-1.0.0-mlf.tar'].each {
    assert new File(target, it).length() > 0 : "$it is missing"
}
assert new File(target, 'firmware/Makefile').isFile()
assert new File(target, 'firmware/compile_commands.json').isFile()

assert new JsonSlurper().parse(new File(target, 'generated-sources/kiln/metadata.json')).version == 7

def verify = new JsonSlurper().parse(new File(target, 'kiln/verify.json'))
assert verify.bitExact && verify.passed
assert verify.board == 'mps2-an386'
assert !verify.cases.isEmpty()
assert new File(target, 'kiln/TEST-kiln-verify.xml').text.contains('failures="0"')

def report = new JsonSlurper().parse(new File(target, 'kiln/report.json'))
assert report.flash.total == report.flash.text + report.flash.constants + report.flash.data
assert report.ram.total == report.ram.data + report.ram.bss + report.ram.workspace + report.ram.io + report.ram.stack
assert report.plan.bytes >= report.plan.lowerBound
assert !report.operators.isEmpty()

assert log.contains('Booting quickstart-1.0.0.elf on qemu-system-arm mps2-an386')
assert log =~ /default vector_3: acceleration = .+ -> gesture = .+/ : 'the answers are shown'

// The README shows lines of this build.
def shown = new File(quickstart, '../../../README.md').text.findAll(/(?m)^\[INFO\] .*/)
assert shown.size() == 4
def said = log.replace("$basedir/", '')
shown.each { assert said.contains(it) : "README.md shows another line: $it" }
return true
