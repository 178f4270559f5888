// SPDX-License-Identifier: Apache-2.0
import groovy.json.JsonSlurper

def verify = new JsonSlurper().parse(new File(basedir, 'target/kiln/verify.json'))
assert verify.bitExact && verify.seed == 42
assert verify.cases*.name == ['first/random_0', 'second/random_0']
assert new JsonSlurper().parse(new File(basedir, 'target/kiln/report.json')).name == 'first, second'
assert new File(basedir, 'target/firmware/codegen/host/include/tvmgen_first.h').isFile()
assert new File(basedir, 'target/firmware/codegen/host/include/tvmgen_second.h').isFile()

// Twice the same model takes the same instructions twice, and the operators are nearly all of them.
def profile = new JsonSlurper().parse(new File(basedir, 'target/kiln/profile.json'))
assert profile.deterministic
def first = profile.operators.findAll { it.name.startsWith('tvmgen_first_') }
def second = profile.operators.findAll { it.name.startsWith('tvmgen_second_') }
assert first*.instructions == second*.instructions && !first.isEmpty()
def inOperators = profile.operators*.instructions.sum()
assert inOperators < profile.instructions && inOperators > 0.9 * profile.instructions
return true
