// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def processes = context.get('processes')
processes.each { it.destroy() }
def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.ranOn == 'qemu-system-arm mps2-an386, worker bench'
assert verify.bitExact && verify.passed
def farm = new JsonSlurper().parse(new File(basedir, 'target/kiln/farm.json'))
assert farm.workers.collect { it.news.name } == ['bench']
assert farm.queues.every { it.messages == 0 }
processes.each { it.waitFor() }
return true
