// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.bitExact && verify.seed == 42
assert verify.cases*.name == ['first/random_0', 'second/random_0']
assert new JsonSlurper().parse(new File(basedir, 'target/kiln/report.json')).name == 'first, second'
assert new File(basedir, 'target/firmware/codegen/host/include/tvmgen_first.h').isFile()
assert new File(basedir, 'target/firmware/codegen/host/include/tvmgen_second.h').isFile()
return true
