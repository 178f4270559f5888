// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def processes = context.get('processes')
processes.each { it.destroy() }
def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.ranOn == 'qemu-system-arm mps2-an386, worker bench'
assert verify.bitExact && verify.passed
def plan = new groovy.xml.XmlSlurper().parse(new File(basedir, 'target/kiln/TEST-kiln-plan.xml'))
assert plan.testcase*.@name*.text() == ['mps2-an386 (emulator, worker=b*)', 'nucleo-f446re (board, silicon=real)']
assert plan.@failures == '0' && plan.@skipped == '1'
assert plan.testcase[0].'system-out'.text().contains('Bit-exact on qemu-system-arm mps2-an386, worker bench: 2 cases')
assert new File(basedir, 'target/kiln/plan.html').text.contains('1 passed, 0 failed, 1 skipped.')
def farm = new JsonSlurper().parse(new File(basedir, 'target/kiln/farm.json'))
assert farm.workers.collect { it.news.name } == ['bench']
assert farm.queues.every { it.messages == 0 }
processes.each { it.waitFor() }
return true
