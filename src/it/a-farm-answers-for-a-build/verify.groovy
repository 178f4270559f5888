// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

context.get('processes').each { it.destroy() }
def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.ranOn == 'qemu-system-arm mps2-an386, worker bench'
assert verify.bitExact && verify.passed
def farm = new JsonSlurper().parse(new File(basedir, 'target/kiln/farm.json'))
assert farm.workers*.news*.name == ['bench'] || farm.workers*.name == ['bench'] : farm
assert farm.queues.every { it.messages == 0 }
assert context.get('processes').every { it.waitFor() != 0 || true }
return true
