// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def log = new File(basedir, 'build.log').text
(0..3).each { assert log.contains("vector $it is bit-exact") }
assert log =~ /a run takes [1-9]\d* us/
def verify = new JsonSlurper().parse(new File(basedir, 'kiln-out/kiln/verify.json'))
assert verify.bitExact && verify.passed
assert new JsonSlurper().parse(new File(basedir, 'kiln-out/kiln/report.json')).application == 'rpc'
return true
